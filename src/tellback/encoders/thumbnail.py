"""The simplest encoder: the picture, scaled down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource
from tellback.errors import SettingError, whole


@dataclass(frozen=True)
class Thumbnail(EncoderSpec):
    """The mean colour of each cell of a grid. Needs no training and no library.

    Parameters
    ----------
    cells : int
        The number of cells per side; three features each.
    """

    cells: int = 4

    def __post_init__(self) -> None:
        self._set_validated(cells=whole("cells", self.cells))

    @property
    def dim(self) -> int:
        """Red, green and blue of each cell."""
        return 3 * self.cells**2

    def build(self, gallery: PictureSource) -> Encoder:
        """Build the encoder; nothing is trained."""
        return self._encode

    def _encode(self, pictures: Pictures) -> Array:
        if self.cells > min(pictures.shape[1:3]):
            raise SettingError(
                f"cells must be at most {min(pictures.shape[1:3])}, the pixels per side, "
                f"not {self.cells}."
            )
        strips = np.array_split(pictures, self.cells, axis=1)
        cells = [cell for strip in strips for cell in np.array_split(strip, self.cells, axis=2)]
        means = [cell.mean(axis=(1, 2)) / 255 for cell in cells]
        return np.concatenate(means, axis=1)
