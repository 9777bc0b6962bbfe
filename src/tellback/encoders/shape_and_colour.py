"""The colours and the outline of a figure, independent of its size and place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellback.arrays import Array
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource
from tellback.errors import whole

LEAST_DIFFERENCE = 8
"""The least difference of a figure's pixel from the background, in levels of one channel."""


@dataclass(frozen=True)
class ShapeAndColour(EncoderSpec):
    """The colours and the outline of the figure in a picture.

    The background is the median colour of the picture's edge. The figure is the pixels that
    differ from it by more than half the largest difference. Their colours give a histogram
    (Swain and Ballard 1991). The outline is a grid over the smallest square around the figure:
    the share of each cell that is filled. So an object has nearly the same features at any
    place and size, and colour and outline have separate features: descriptions of red squares
    teach what red is for circles too. Needs no training and no library.

    It needs one figure on a plain background. For other pictures, such as photographs, use
    ``EfficientNet`` or an encoder of your own. Size and place are lost.

    Parameters
    ----------
    levels : int
        The number of levels of red, of green and of blue, one feature each. A value between two
        levels counts partly for both.
    cells : int
        The number of cells per side of the grid, one feature each.

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
        """Build the encoder; nothing is trained."""
        return self._encode

    def _encode(self, pictures: Pictures) -> Array:
        return np.array([self._features(picture) for picture in pictures])

    def _features(self, picture: Pictures) -> Array:
        mask = _figure(picture)
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not len(rows):
            return np.zeros(self.dim)
        box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        colours = _histogram(picture[box][mask[box]], self.levels)
        return np.concatenate([colours, _filled(mask[box], self.cells)])


def _figure(picture: Pictures) -> NDArray[np.bool_]:
    """The pixels of the figure; none in a picture of one colour."""
    edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    background = np.median(edge, axis=0).astype(np.uint8)
    away = np.zeros(picture.shape[:2], dtype=np.uint8)
    for channel in range(3):  # much faster than a maximum over a short axis
        level, ground = picture[..., channel], background[channel]
        np.maximum(away, np.maximum(level, ground) - np.minimum(level, ground), out=away)
    found: NDArray[np.bool_] = away > max(int(away.max()) // 2, LEAST_DIFFERENCE)
    return found


def _histogram(pixels: Pictures, levels: int) -> Array:
    """The share of pixels at each level of each channel, interpolated between levels."""
    positions = np.arange(256) / 255 * (levels - 1)
    weights = np.maximum(0.0, 1 - np.abs(positions[:, None] - np.arange(levels)))
    counts = [np.bincount(pixels[:, channel], minlength=256) for channel in range(3)]
    shares: Array = np.concatenate([count @ weights for count in counts]) / len(pixels)
    return shares


def _filled(mask: NDArray[np.bool_], cells: int) -> Array:
    """The filled share of each cell of a grid over the square around the figure."""
    down, across = (_overlaps(length, max(mask.shape), cells) for length in mask.shape)
    shares: Array = (down @ mask @ across.T).ravel()
    return shares


def _overlaps(length: int, side: int, cells: int) -> Array:
    """The share of each cell (a row) that each pixel covers; the pixels are centred."""
    first = (side - length) / 2 + np.arange(length)
    cell = side / cells
    begins = np.arange(cells)[:, None] * cell
    covered = np.minimum(first + 1, begins + cell) - np.maximum(first, begins)
    overlaps: Array = np.maximum(covered, 0.0) / cell
    return overlaps
