"""ShapeAndColour: colours and outline of what stands out, wherever it is and however large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tellback.encoders import EncoderSpec, ShapeAndColour
from tellback.errors import SettingError
from tellback.specs import spec_from_data
from tellback.worlds import Images
from tellback.worlds.pictures import COLOURS, INSIDE, SIDE, Shape

Pixels = NDArray[np.uint8]

kinds, colours = st.sampled_from(list(INSIDE)), st.sampled_from(list(COLOURS))


def features(picture: Pixels, encoder: ShapeAndColour | None = None) -> NDArray[np.float64]:
    encode = (encoder or ShapeAndColour()).build(Images(encoder=ShapeAndColour()).gallery)
    row: NDArray[np.float64] = encode(picture[None])[0]
    return row


def plain(colour: tuple[int, int, int], height: int = 60, width: int = 60) -> Pixels:
    return np.full((height, width, 3), colour, dtype=np.uint8)


@settings(max_examples=40, deadline=None)
@given(kinds, colours, st.integers(60, 180), st.data())
def test_an_object_has_nearly_the_same_features_wherever_it_is_and_however_large(
    kind: str, colour: str, size: int, data: st.DataObject
) -> None:
    x, y = (data.draw(st.integers(size // 2 + 2, SIDE - size // 2 - 2)) for _ in range(2))
    moved = features(Shape(kind, colour, size, x, y).picture())
    np.testing.assert_allclose(moved, features(Shape(kind, colour).picture()), atol=0.12)


@settings(max_examples=40, deadline=None)
@given(kinds, colours, colours)
def test_colour_leaves_the_outline_alone(kind: str, one: str, other: str) -> None:
    a, b = (features(Shape(kind, colour).picture())[12:] for colour in (one, other))
    np.testing.assert_array_equal(a, b)


@settings(max_examples=40, deadline=None)
@given(colours, kinds, kinds)
def test_the_outline_leaves_colour_alone(colour: str, one: str, other: str) -> None:
    a, b = (features(Shape(kind, colour).picture())[:12] for kind in (one, other))
    np.testing.assert_allclose(a, b, atol=1e-12)


def test_no_two_objects_are_alike() -> None:
    rows = [features(Shape(kind, colour).picture()) for kind in INSIDE for colour in COLOURS]
    apart = [abs(a - b).max() for i, a in enumerate(rows) for b in rows[:i]]
    assert min(apart) > 0.1


def test_a_figure_of_two_colours_has_a_share_of_both() -> None:
    picture = plain((255, 255, 255))
    picture[20:40, 20:40] = (0, 0, 0)
    picture[20:30, 20:40] = (0, 255, 0)
    shares = features(picture, ShapeAndColour(levels=2, cells=1))
    np.testing.assert_allclose(shares, [1, 0, 0.5, 0.5, 1, 0, 1], atol=1e-12)


def test_a_level_between_two_counts_for_both() -> None:
    picture = plain((0, 0, 0))
    picture[20:40, 20:40] = (255, 51, 204)
    shares = features(picture, ShapeAndColour(levels=2, cells=1))
    np.testing.assert_allclose(shares, [0, 1, 0.8, 0.2, 0.2, 0.8, 1], atol=1e-12)


def test_the_grid_lies_on_a_square_around_the_figure_and_counts_parts_of_pixels() -> None:
    picture = plain((255, 255, 255), 50, 80)
    picture[10:13, 30:39] = 0  # 9 pixels wide and 3 high: in the middle third of a square
    outline = features(picture, ShapeAndColour(levels=2, cells=3))[6:].reshape(3, 3)
    np.testing.assert_allclose(outline, [[0, 0, 0], [1, 1, 1], [0, 0, 0]], atol=1e-12)
    outline = features(picture, ShapeAndColour(levels=2, cells=2))[6:].reshape(2, 2)
    np.testing.assert_allclose(outline, np.full((2, 2), 1 / 3), atol=1e-12)


@pytest.mark.parametrize("colour", [(255, 255, 255), (0, 0, 0), (90, 20, 200)])
def test_a_picture_of_one_colour_shows_nothing(colour: tuple[int, int, int]) -> None:
    assert not features(plain(colour)).any()


def test_faint_noise_on_the_background_is_no_figure() -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(-4, 5, (60, 60, 3))
    noisy = np.clip(plain((128, 128, 128)).astype(int) + noise, 0, 255).astype(np.uint8)
    assert not features(noisy).any()
    noisy[20:40, 20:40] = (220, 30, 30)
    np.testing.assert_allclose(features(noisy)[12:], np.ones(16), atol=1e-12)


@given(st.integers(2, 9), st.integers(1, 9))
@settings(max_examples=20, deadline=None)
def test_it_gives_as_many_features_as_it_says(levels: int, cells: int) -> None:
    spec = ShapeAndColour(levels, cells)
    assert spec.dim == Images("jitter", encoder=spec).features([Shape("circle", "red")]).shape[1]


def test_figures_smaller_than_the_grid_are_seen_too() -> None:
    picture = plain((255, 255, 255))
    picture[5, 7] = 0
    np.testing.assert_allclose(features(picture)[12:], np.ones(16), atol=1e-12)


def test_it_is_kept_as_data() -> None:
    assert spec_from_data(EncoderSpec, ShapeAndColour(5, 3).to_data()) == ShapeAndColour(5, 3)


@pytest.mark.parametrize("settings", [{"levels": 1}, {"cells": 0}, {"levels": 2.5}])
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(SettingError, match=next(iter(settings))):
        ShapeAndColour(**settings)  # type: ignore[arg-type]
