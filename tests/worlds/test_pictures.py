"""What is in the pictures: one object, of the stated colour, size and place."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from numpy.typing import NDArray
from scipy import stats

from tellback.errors import TellbackError
from tellback.worlds.pictures import COLOURS, VARIANTS, Gallery, Shape
from tests.support.oracles import Floats

TYPES = ("square", "rectangle", "triangle", "circle")
# The paper's list, in which black stands twice.
NAMES = ("red", "blue", "green", "yellow", "black", "grey", "cyan", "orange")
WHITE = (255, 255, 255)
VARYING = ("jitter", "free")

Pixels = NDArray[np.uint8]

seeds = st.integers(0, 2**32)
kinds = st.sampled_from(TYPES)
colours = st.sampled_from(NAMES)


def gallery(variant: str) -> Gallery:
    return Gallery(TYPES, NAMES, variant)


def painted(picture: Pixels) -> NDArray[np.bool_]:
    """Where something other than the white ground is."""
    return np.asarray((picture != 255).any(axis=2))


def depth(kind: str, size: float, x: Floats, y: Floats) -> Floats:
    """How far points are inside an object around the origin (y down); outside, negative."""
    half = size / 2
    across = half - np.abs(x)
    depths: dict[str, Floats] = {
        "square": np.minimum(across, half - np.abs(y)),
        "rectangle": np.minimum(across, size / 4 - np.abs(y)),
        # The apex is up: the sides go from (0, -half) to (-half, half) and (half, half).
        "triangle": np.minimum((y + half - 2 * np.abs(x)) / math.sqrt(5), half - y),
        "circle": half - np.hypot(x, y),
    }
    return depths[kind]


def area(kind: str, size: float) -> float:
    shares = {"square": 1.0, "rectangle": 0.5, "triangle": 0.5, "circle": math.pi / 4}
    return shares[kind] * size**2


@st.composite
def shown(draw: st.DrawFn, variants: tuple[str, ...] = tuple(VARIANTS)) -> Shape:
    """An object as some variant shows it."""
    thing = (draw(kinds), draw(colours))
    rng = np.random.default_rng(draw(seeds))
    return gallery(draw(st.sampled_from(variants))).shape(thing, rng)


def test_the_eight_colours_are_distinct_and_none_is_white() -> None:
    assert set(COLOURS) == set(NAMES)
    everything = [WHITE, *COLOURS.values()]
    for one, other in combinations(everything, 2):
        assert np.abs(np.subtract(one, other)).max() > 30, "far enough apart to be seen"


def test_each_colour_looks_like_its_name() -> None:
    usual = {name: 255 * np.array(to_rgb(name)) for name in (*NAMES, "white")}
    for name, colour in COLOURS.items():
        distances = {other: float(np.linalg.norm(usual[other] - colour)) for other in usual}
        assert min(distances, key=lambda other: distances[other]) == name


@settings(deadline=None)
@given(shown())
def test_a_picture_is_200_by_200_bytes_in_one_colour_on_white(shape: Shape) -> None:
    picture = shape.picture()
    assert picture.shape == (200, 200, 3)
    assert picture.dtype == np.uint8
    of_colour = (picture == COLOURS[shape.colour]).all(axis=2)
    white = (picture == WHITE).all(axis=2)
    assert of_colour.any()
    assert (of_colour ^ white).all()


@settings(deadline=None)
@given(kinds, colours, st.floats(5, 250), st.floats(-100, 300), st.floats(-100, 300))
def test_a_pixel_is_painted_if_and_only_if_its_centre_is_inside(
    kind: str, colour: str, size: float, x: float, y: float
) -> None:
    inside = painted(Shape(kind, colour, size, x, y).picture())
    centres: Floats = np.arange(0.5, 200)
    depths = depth(kind, size, centres[None, :] - x, centres[:, None] - y)
    assert inside[depths > 1e-9].all()
    assert not inside[depths < -1e-9].any()


@settings(deadline=None)
@given(shown())
def test_the_painted_area_is_that_of_geometry(shape: Shape) -> None:
    pixels = int(painted(shape.picture()).sum())
    # Where it begins and ends in each row and column is known to a pixel.
    assert abs(pixels - area(shape.type, shape.size)) <= 2 * shape.size + 1


def test_centred_squares_and_rectangles_have_exactly_their_area() -> None:
    assert painted(Shape("square", "red").picture()).sum() == 100 * 100
    assert painted(Shape("rectangle", "red").picture()).sum() == 100 * 50


@settings(deadline=None)
@given(shown())
def test_the_bounding_box_is_where_the_shape_says(shape: Shape) -> None:
    rows, columns = np.nonzero(painted(shape.picture()))
    half = shape.size / 2
    tall = half / 2 if shape.type == "rectangle" else half
    # A corner of a triangle is so thin that it may miss the centres of two pixels.
    near = 2.0 if shape.type == "triangle" else 1.0
    assert columns.min() == pytest.approx(shape.x - half, abs=near)
    assert columns.max() + 1 == pytest.approx(shape.x + half, abs=near)
    assert rows.min() == pytest.approx(shape.y - tall, abs=near)
    assert rows.max() + 1 == pytest.approx(shape.y + tall, abs=near)


@settings(deadline=None)
@given(kinds, colours, seeds)
def test_canon_has_one_centred_picture_an_object(kind: str, colour: str, seed: int) -> None:
    shape = gallery("canon").shape((kind, colour), np.random.default_rng(seed))
    assert shape == (kind, colour, 100.0, 100.0, 100.0)
    inside = painted(shape.picture())
    np.testing.assert_array_equal(inside, inside[:, ::-1])
    if kind != "triangle":
        np.testing.assert_array_equal(inside, inside[::-1])


@given(kinds, colours, seeds)
def test_jitter_has_sizes_of_80_to_120_within_15_pixels_of_the_centre(
    kind: str, colour: str, seed: int
) -> None:
    shape = gallery("jitter").shape((kind, colour), np.random.default_rng(seed))
    assert (shape.type, shape.colour) == (kind, colour)
    assert 80 <= shape.size <= 120
    assert abs(shape.x - 100) <= 15
    assert abs(shape.y - 100) <= 15


@given(kinds, colours, seeds)
def test_free_objects_are_entirely_within_the_picture(kind: str, colour: str, seed: int) -> None:
    shape = gallery("free").shape((kind, colour), np.random.default_rng(seed))
    assert (shape.type, shape.colour) == (kind, colour)
    assert 30 <= shape.size <= 180
    for place in (shape.x, shape.y):
        assert place - shape.size / 2 >= 0
        assert place + shape.size / 2 <= 200 + 1e-12


@pytest.mark.parametrize("variant", VARYING)
def test_sizes_and_places_are_uniform_and_drawn_apart(variant: str) -> None:
    rng = np.random.default_rng(1)
    shapes = [gallery(variant).shape(("circle", "red"), rng) for _ in range(4000)]
    size, x, y = np.array([shape[2:] for shape in shapes], dtype=np.float64).T
    if variant == "jitter":
        shares = ((size - 80) / 40, (x - 85) / 30, (y - 85) / 30)
    else:
        room = 200 - size
        shares = ((size - 30) / 150, (x - size / 2) / room, (y - size / 2) / room)
    for share in shares:
        assert stats.kstest(share, "uniform").pvalue > 1e-3
    for one, other in combinations(shares, 2):
        assert stats.spearmanr(one, other).pvalue > 1e-3


def test_no_two_objects_have_the_same_picture() -> None:
    pictures = {Shape(kind, name).picture().tobytes() for kind in TYPES for name in NAMES}
    assert len(pictures) == 32


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_gallery_draws_pictures_as_its_generator_says(variant: str) -> None:
    one, same, other = (
        gallery(variant).draw(12, np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert one.shape == (12, 200, 200, 3)
    assert one.dtype == np.uint8
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_gallery_draws_all_objects_equally_often() -> None:
    few = Gallery(("square", "circle"), ("red", "grey", "cyan"), "canon")
    assert len(few.objects) == 6
    known = {Shape(*thing).picture().tobytes(): i for i, thing in enumerate(few.objects)}
    drawn = [known[picture.tobytes()] for picture in few.draw(300, np.random.default_rng(2))]
    counts = np.bincount(drawn, minlength=6)
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("variant", VARYING)
def test_no_two_pictures_of_a_varying_gallery_are_the_same(variant: str) -> None:
    one_object = Gallery(("circle",), ("red",), variant)
    drawn = one_object.draw(60, np.random.default_rng(3))
    assert len({picture.tobytes() for picture in drawn}) == 60


def test_what_pictures_depend_on_tells_galleries_apart() -> None:
    galleries = [
        gallery("canon"),
        gallery("jitter"),
        Gallery(TYPES[:2], NAMES, "canon"),
        Gallery(TYPES, NAMES[:2], "canon"),
    ]
    for one, other in combinations(galleries, 2):
        assert one.to_data() != other.to_data()
    assert gallery("canon").to_data() == gallery("canon").to_data()


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        (Shape("squre", "red"), "Did you mean 'square'"),
        (Shape("square", "rde"), "Did you mean 'red'"),
        (Shape("square", "red", 0.0), "size must be finite, above 0"),
    ],
)
def test_a_shape_that_cannot_be_drawn_is_refused_by_name(shape: Shape, says: str) -> None:
    with pytest.raises(TellbackError, match=says):
        shape.picture()
