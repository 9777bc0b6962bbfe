"""Responses that can be listed, and those that cannot."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tellback import Listed
from tellback.errors import SettingError
from tellback.responses import Shortlist
from tests.support.coloured_steps import ColouredSteps, all_sequences


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_features_are_the_rows_that_were_given(matrix: np.ndarray) -> None:
    responses = Listed(matrix)
    assert (len(responses), responses.dim) == matrix.shape
    np.testing.assert_array_equal(responses.matrix, matrix)
    np.testing.assert_array_equal(responses.columns, matrix.T)
    for y in range(len(responses)):
        np.testing.assert_array_equal(responses.features(y), matrix[y])
        assert responses.features(y).flags.c_contiguous


@pytest.mark.parametrize(
    "shape", [(), (3,), (0, 2), (2, 0), (0, 0), (2, 2, 2)], ids=lambda shape: str(shape)
)
def test_anything_but_a_matrix_is_refused_with_its_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(SettingError) as refusal:
        Listed(np.zeros(shape))
    assert str(shape) in str(refusal.value)
    assert "features" in str(refusal.value)


@pytest.mark.parametrize("junk", [[[1.0, 2.0], [3.0]], [["a", "b"]], [[1j]], None, "abc"])
def test_what_is_no_matrix_of_real_numbers_is_refused_by_name(junk: object) -> None:
    with pytest.raises(SettingError, match="features"):
        Listed(junk)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_named_with_its_place(bad: float) -> None:
    matrix = np.ones((4, 3))
    matrix[2, 1] = bad
    matrix[3, 0] = bad
    with pytest.raises(SettingError, match=rf"response 2 has {bad} at position 1"):
        Listed(matrix)


def test_responses_are_the_numbers_of_the_rows() -> None:
    responses = Listed(np.eye(3))
    for y in (0, 1, 2, np.int64(2), np.uint8(0)):
        assert y in responses
    for other in (-1, 3, 1.0, True, False, "1", None, np.float64(1), np.int64(3), (1,), [1]):
        assert other not in responses


def test_nobody_can_write_into_the_features() -> None:
    responses = Listed(np.eye(3))
    for array in (responses.matrix, responses.columns, responses.features(1)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0


def test_the_features_do_not_follow_the_array_they_came_from() -> None:
    for order in ("C", "F"):
        matrix = np.asarray(np.eye(3), order=order)
        responses = Listed(matrix)
        matrix[0, 0] = 7.0
        assert responses.matrix[0, 0] == 1.0


def test_the_same_features_object_is_given_for_the_same_response() -> None:
    responses = Listed(np.eye(3))
    assert responses.features(1) is responses.features(1)


@pytest.mark.parametrize("response", [1.0, True, np.float64(1), np.bool_(True)])
def test_what_equals_a_response_is_none(response: Any) -> None:
    responses = Listed(np.eye(3))
    np.testing.assert_array_equal(responses.features(1), responses.features(np.int64(1)))  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="must be a whole number from 0 to 2"):
        responses.features(response)  # though 1 has been looked up


@pytest.mark.parametrize(
    ("rows", "response"),
    [
        ([[0.5, 0.5], [0.5, 0.6]], 1),
        ([[1.5, -0.5], [0.5, 0.5]], 0),
        ([[0.5, 0.5], [0.0, 0.0]], 1),
        ([[0.5, 0.5 - 1e-5]], 0),
    ],
)
def test_features_off_the_simplex_are_named(rows: list[list[float]], response: int) -> None:
    assert f"response {response} " in Listed(rows).off_simplex


def test_distributions_are_on_the_simplex() -> None:
    assert Listed([[0.1, 0.2, 0.7], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3]]).off_simplex == ""


def test_the_description_of_responses_is_short() -> None:
    assert repr(Listed(np.eye(3))) == "Listed(3 responses, 3 features each)"


# Responses that cannot be listed.

SEQUENCES = st.lists(st.sampled_from(list(all_sequences())), min_size=1, max_size=20)


@given(SEQUENCES)
def test_a_shortlist_has_each_response_once_with_the_features_of_the_task(
    drawn: list[tuple[str, ...]],
) -> None:
    task = ColouredSteps()
    shortlist = task.shortlist(drawn)
    assert list(shortlist.responses) == sorted(set(drawn), key=drawn.index)
    for place, response in enumerate(shortlist.responses):
        assert shortlist.place(response) == place
        np.testing.assert_array_equal(shortlist.features(place), task.features(response))


@given(SEQUENCES)
def test_a_shortlist_survives_pickling(drawn: list[tuple[str, ...]]) -> None:
    shortlist = ColouredSteps().shortlist(drawn)
    again = pickle.loads(pickle.dumps(shortlist))
    assert type(again) is Shortlist
    assert again.responses == shortlist.responses
    np.testing.assert_array_equal(again.matrix, shortlist.matrix)


@pytest.mark.parametrize(
    ("responses", "rows"), [(["a", "a"], 2), (["a"], 2), (["a", "b"], 1)], ids=str
)
def test_a_shortlist_with_a_response_twice_or_without_its_row_is_refused(
    responses: list[str], rows: int
) -> None:
    with pytest.raises(SettingError, match="each response once"):
        Shortlist(responses, np.eye(rows))


@pytest.mark.parametrize("other", [("red", "pink"), "red", 0, ["red"], None], ids=repr)
def test_a_response_that_is_not_in_the_shortlist_has_no_place(other: object) -> None:
    with pytest.raises(SettingError, match="not in the shortlist"):
        ColouredSteps().shortlist([("red",)]).place(other)


def test_a_shortlist_cannot_be_changed() -> None:
    shortlist = ColouredSteps().shortlist([("red",)])
    with pytest.raises(AttributeError, match="cannot be changed"):
        shortlist.responses = ()


def test_an_unknown_grammar_is_refused_by_name() -> None:
    with pytest.raises(SettingError, match="'waypoints'"):
        ColouredSteps().grammar("waypoints")
