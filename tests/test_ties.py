"""The one rule for ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellback.ties import TOLERANCE, maxima, tie_probabilities

FINITE = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9)


def test_values_that_differ_by_rounding_only_are_tied() -> None:
    values = np.array([0.1, 0.3, 0.1 + 0.2, 0.3 * (1 + 2 * TOLERANCE)])
    assert maxima(values[:3], random=True).tolist() == [1, 2]
    assert maxima(values, random=True).tolist() == [3]


def test_ties_go_to_the_first_if_they_shall() -> None:
    assert maxima(np.array([0.0, 2.0, 2.0]), random=False).tolist() == [1]
    assert tie_probabilities(np.array([0.0, 2.0, 2.0]), random=False).tolist() == [0, 1, 0]


def test_else_they_share_the_probability() -> None:
    assert tie_probabilities(np.array([-1.0, -1.0, -2.0]), random=True).tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("random", [True, False])
def test_nothing_is_the_highest_where_a_value_is_not_finite(wrong: float, random: bool) -> None:
    values = np.array([0.5, wrong, 0.5])
    assert not len(maxima(values, random))
    assert np.isnan(tie_probabilities(values, random)).all()


@given(FINITE, st.booleans())
def test_the_highest_is_among_the_maxima_and_probabilities_sum_to_1(
    given_values: list[float], random: bool
) -> None:
    values = np.array(given_values)
    tied, probabilities = maxima(values, random), tie_probabilities(values, random)
    lowest = values.max() - TOLERANCE * abs(values.max())
    assert tied.tolist() == np.flatnonzero(values >= lowest).tolist()[: None if random else 1]
    assert np.flatnonzero(probabilities).tolist() == tied.tolist()
    assert probabilities.sum() == pytest.approx(1)


@given(st.integers(1, 300), st.integers(0, 2**32), st.booleans(), st.sampled_from([0, np.nan]))
def test_many_values_are_as_few(count: int, seed: int, random: bool, wrong: float) -> None:
    """Lanes and blocks end anywhere."""
    values = np.random.default_rng(seed).integers(-20, 0, count) / 10
    values[seed % count] += wrong
    lowest = values.max() - TOLERANCE * abs(values.max())
    best = np.flatnonzero(values >= lowest)  # none if a value is NaN
    assert maxima(values, random).tolist() == best.tolist()[: None if random else 1]
