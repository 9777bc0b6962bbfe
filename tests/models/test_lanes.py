"""The vectorised exponential is exact to single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.compiled import compiled
from tellback.models.lanes import Floats, exponential
from tellback.models.vectors import LANES, load, store

# The exponential.


@compiled
def _exponentials(x: Floats) -> None:
    for b in range(0, x.shape[1], LANES):
        store(x, 0, b, exponential(load(x, 0, b)))


def exp(values: Any) -> Floats:
    given = np.array(values, dtype=np.float32)
    x = np.pad(given, (0, -len(given) % LANES))[np.newaxis]
    _exponentials(x)
    return x[0, : len(given)]


def assert_exponential(x: Floats) -> None:
    exact = np.exp(x.astype(np.float64))
    np.testing.assert_array_less(np.abs(exp(x) - exact), 3e-7 * exact)


def test_the_exponential_is_that_of_numpy_over_its_whole_range() -> None:
    assert_exponential(np.linspace(-87, 88, 400_001, dtype=np.float32))
    assert_exponential(np.linspace(-1e-3, 1e-3, 10_001, dtype=np.float32))
    # Where the power of two changes.
    halves = np.arange(-125, 127, dtype=np.float64) + 0.5
    near = (halves[:, None] * np.log(2) + np.linspace(-1e-5, 1e-5, 21)).ravel()
    assert_exponential(near.astype(np.float32))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-87, 88, width=32), min_size=1, max_size=9))
def test_the_exponential_of_any_numbers(values: list[float]) -> None:
    assert_exponential(np.array(values, dtype=np.float32))


def test_the_exponential_stays_at_its_ends_outside_its_range() -> None:
    low, high = exp([-87, 88])
    assert 0 < low < 2e-38
    assert 1e38 < high < np.inf
    beyond = [-87.5, -1e3, -3e38, -np.inf]
    np.testing.assert_array_equal(exp(beyond), np.full(4, low))
    np.testing.assert_array_equal(exp([-b + 1 for b in beyond]), np.full(4, high))


def test_the_exponential_of_what_is_no_number_is_none() -> None:
    np.testing.assert_array_equal(np.isnan(exp([0, np.nan, 1])), [False, True, False])
