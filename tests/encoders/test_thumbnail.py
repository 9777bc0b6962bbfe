"""A thumbnail is the mean colour of each cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.encoders import Thumbnail, encoder_from
from tellback.errors import SettingError
from tests.support.galleries import GALLERY, Pixels, drawn

# Thumbnails


def mean_cells(picture: Pixels, cells: int) -> list[float]:
    """Pixel after pixel; what does not divide evenly makes the first cells one larger."""

    def bounds(length: int) -> list[tuple[int, int]]:
        sizes = [length // cells + (i < length % cells) for i in range(cells)]
        ends = np.cumsum(sizes).tolist()
        return [(end - size, end) for end, size in zip(ends, sizes, strict=True)]

    means = []
    for top, bottom in bounds(picture.shape[0]):
        for left, right in bounds(picture.shape[1]):
            for channel in range(3):
                total = sum(
                    int(picture[i, j, channel])
                    for i in range(top, bottom)
                    for j in range(left, right)
                )
                means.append(total / ((bottom - top) * (right - left)) / 255)
    return means


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(0, 8), st.integers(0, 8), st.integers(0, 2**32))
def test_a_thumbnail_is_the_mean_of_each_cell(
    cells: int, more_rows: int, more_columns: int, seed: int
) -> None:
    shape = (3, cells + more_rows, cells + more_columns, 3)
    pictures = np.random.default_rng(seed).integers(256, size=shape, dtype=np.uint8)
    features = encoder_from(Thumbnail(cells), GALLERY)(pictures)
    expected = [mean_cells(picture, cells) for picture in pictures]
    np.testing.assert_allclose(features, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("cells", [1, 3, 4, 7])
def test_a_thumbnail_of_a_whole_picture_need_not_divide_it(cells: int) -> None:
    pictures = drawn(2)
    features = encoder_from(Thumbnail(cells), GALLERY)(pictures)
    np.testing.assert_allclose(features, [mean_cells(p, cells) for p in pictures], rtol=1e-12)
    assert features.min() >= 0
    assert features.max() <= 1


@pytest.mark.parametrize("cells", [1, 2, 7, 50, 200])
def test_the_size_of_a_thumbnail_is_known_beforehand(cells: int) -> None:
    features = encoder_from(Thumbnail(cells), GALLERY)(drawn(2))
    assert features.shape == (2, Thumbnail(cells).dim)


def test_a_thumbnail_with_a_cell_for_each_pixel_is_the_picture() -> None:
    pictures = drawn(2)
    features = encoder_from(Thumbnail(200), GALLERY)(pictures)
    np.testing.assert_array_equal(features, pictures.reshape(2, -1) / 255)


def test_more_cells_than_pixels_are_refused_by_name() -> None:
    with pytest.raises(SettingError, match="cells must be at most 200"):
        encoder_from(Thumbnail(cells=201), GALLERY)(drawn(1))
