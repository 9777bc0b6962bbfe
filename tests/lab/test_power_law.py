"""The power with which regret grows is found, with an interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback.lab.power_law import power_of_t

# How regret grows.

T = np.arange(1, 501)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.1, 1.5), st.lists(st.floats(0.01, 100), min_size=2, max_size=5))
def test_a_power_of_t_is_found(power: float, factors: list[float]) -> None:
    found = power_of_t(T, np.outer(factors, T**power))
    assert found is not None
    assert found.n == len(factors)
    np.testing.assert_allclose((found.mean, found.low, found.high), power, atol=1e-9)


def test_the_power_is_the_mean_of_those_of_the_seeds_with_students_interval() -> None:
    rng = np.random.default_rng(1)
    curves = np.cumsum(rng.gamma(0.5, size=(6, len(T))) * T**-0.4, axis=1)
    late = T >= 50  # the first tenth is left out
    powers = [np.polyfit(np.log(T[late]), np.log(curve[late]), 1)[0] for curve in curves]
    interval = stats.ttest_1samp(powers, 0.0).confidence_interval(0.95)
    found = power_of_t(T, curves)
    assert found is not None
    expected = [float(np.mean(powers)), float(interval.low), float(interval.high)]
    assert [found.mean, found.low, found.high] == pytest.approx(expected, rel=1e-9)


def test_what_happens_in_the_first_tenth_does_not_matter() -> None:
    curves = np.outer([1.0, 2.0], np.sqrt(T))
    changed = curves.copy()
    changed[:, T < 50] = 0.0
    assert power_of_t(T, changed) == power_of_t(T, curves)


def test_there_is_no_power_without_regret_or_without_several_seeds() -> None:
    curves = np.outer([1.0, 2.0], np.sqrt(T))
    assert power_of_t(T, curves[:1]) is None
    assert power_of_t(T[:1], curves[:, :1]) is None
    for at in (60, 499):
        without = curves.copy()
        without[1, at] = 0.0
        assert power_of_t(T, without) is None
    assert power_of_t(T, 0 * curves) is None
