"""What a picture shows, apart from where and how large: the colours and the outline of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellback.arrays import Array
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource
from tellback.errors import whole

STANDS_OUT = 8
"""How many of 255 levels a pixel must at least be from the background, in some channel."""


@dataclass(frozen=True)
class ShapeAndColour(EncoderSpec):
    """The colours of what stands out from the background, and its outline.

    The background is the median colour of the picture's edge. What stands out are the pixels
    that differ from it by more than half of what the most different one does. Their colours
    give a histogram (Swain and Ballard 1991); a grid over the smallest square around them says
    which share of each cell they fill. So one object has nearly the same features wherever it
    is and however large, and each kind of feature keeps to itself: what was learned about red
    from squares holds for circles. Needs no training and no library.

    It sees one figure on a plain background. Where a picture is more than that, such as a
    photograph, ``Autoencoder`` or an encoder of your own sees more. Size and place are lost.

    Parameters
    ----------
    levels : int
        How many levels of red, of green and of blue, one feature each. A level in between
        counts for both its neighbours.
    cells : int
        How many cells of the grid a side, one feature each.

    Examples
    --------
    >>> from tellback.worlds import Images
    >>> from tellback.worlds.pictures import Shape
    >>> small, large = Images("free", encoder=ShapeAndColour()).features(
    ...     [Shape("circle", "red", 60, 50, 120), Shape("circle", "red", 150)]
    ... )
    >>> bool(abs(small - large).max() < 0.1)
    True
    """

    levels: int = 4
    cells: int = 4

    def __post_init__(self) -> None:
        self._set_validated(
            levels=whole("levels", self.levels, at_least=2), cells=whole("cells", self.cells)
        )

    @property
    def dim(self) -> int:
        """The levels of three channels, and the cells."""
        return 3 * self.levels + self.cells**2

    def build(self, gallery: PictureSource) -> Encoder:
        """Nothing to be trained."""
        return self._encode

    def _encode(self, pictures: Pictures) -> Array:
        return np.array([self._features(picture) for picture in pictures])

    def _features(self, picture: Pictures) -> Array:
        mask = _standing_out(picture)
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not len(rows):
            return np.zeros(self.dim)
        box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        colours = _histogram(picture[box][mask[box]], self.levels)
        return np.concatenate([colours, _filled(mask[box], self.cells)])


def _standing_out(picture: Pictures) -> NDArray[np.bool_]:
    """Which pixels are the figure; none in a picture of one colour."""
    edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    ground = np.median(edge, axis=0).astype(np.uint8)
    away = np.zeros(picture.shape[:2], dtype=np.uint8)
    for channel in range(3):  # much faster than a maximum over so short an axis
        level, usual = picture[..., channel], ground[channel]
        np.maximum(away, np.maximum(level, usual) - np.minimum(level, usual), out=away)
    found: NDArray[np.bool_] = away > max(int(away.max()) // 2, STANDS_OUT)
    return found


def _histogram(pixels: Pictures, levels: int) -> Array:
    """The share of pixels at each level of each channel, between two levels shared by both."""
    places = np.arange(256) / 255 * (levels - 1)
    weights = np.maximum(0.0, 1 - np.abs(places[:, None] - np.arange(levels)))
    counts = [np.bincount(pixels[:, channel], minlength=256) for channel in range(3)]
    shares: Array = np.concatenate([count @ weights for count in counts]) / len(pixels)
    return shares


def _filled(mask: NDArray[np.bool_], cells: int) -> Array:
    """The share of each cell that is filled, of a grid over the square around the figure."""
    down, across = (_overlaps(length, max(mask.shape), cells) for length in mask.shape)
    shares: Array = (down @ mask @ across.T).ravel()
    return shares


def _overlaps(length: int, side: int, cells: int) -> Array:
    """Which share of each cell, a row, is each of so many pixels in the middle of the side."""
    first = (side - length) / 2 + np.arange(length)
    cell = side / cells
    begins = np.arange(cells)[:, None] * cell
    shared = np.minimum(first + 1, begins + cell) - np.maximum(first, begins)
    overlaps: Array = np.maximum(shared, 0.0) / cell
    return overlaps
