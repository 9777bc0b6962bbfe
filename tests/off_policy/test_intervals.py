"""Intervals hold as often as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback.agents import (
    Uniform,
)
from tellback.errors import SettingError
from tellback.off_policy import (
    Log,
    OverlapError,
    Uniformly,
    demand_overlap,
    inverse_propensity,
    self_normalised,
)
from tellback.off_policy.intervals import deviations
from tests.support.off_policy import Fixed, a_log, played


def test_few_matches_of_equal_weight_get_the_exact_interval_of_a_count() -> None:
    for hits in range(6):
        matches = np.array([1.0] * hits + [0.0] * (100 - hits))
        below, above, kind = deviations(matches, np.ones(100), matches, 0.9)
        assert kind == "gamma"
        # Garwood (1936): the counts under which so few, or so many, are improbable.
        if hits:
            assert stats.poisson.sf(hits - 1, hits - 100 * below) == pytest.approx(0.05)
        else:
            assert below == 0
        assert stats.poisson.cdf(hits, hits + 100 * above) == pytest.approx(0.05)


def test_few_misses_get_the_mirrored_interval() -> None:
    matches = np.array([1.0] * 3 + [0.0] * 97)
    below, above, _ = deviations(matches, np.ones(100), matches, 0.95)
    mirrored = deviations(1 - matches, np.ones(100), 1 - matches, 0.95)
    assert mirrored[:2] == pytest.approx((above, below))


def test_many_matches_get_students_interval() -> None:
    matches = np.tile([0.0, 1.0], 100)
    below, above, kind = deviations(matches, np.ones(200), matches, 0.95)
    low, high = stats.t.interval(0.95, 199, loc=0.5, scale=stats.sem(matches))
    assert kind == "student"
    assert (0.5 - below, 0.5 + above) == pytest.approx((low, high))


def test_the_self_normalised_interval_is_that_of_leaving_rounds_out() -> None:
    log, n = Log.of(played(Uniform(), 400)), 400
    weights = np.array([0.4, 0.3, 0.2, 0.1])[log.responses] / 0.25
    without = [
        np.delete(weights, i) @ np.delete(log.matches, i) / np.delete(weights, i).sum()
        for i in range(n)
    ]
    error = np.sqrt((n - 1) * np.var(without))  # Tukey's jackknife
    found = self_normalised(log, Fixed(0.4, 0.3, 0.2, 0.1))
    assert found.method == "self-normalised, student"
    half = stats.t.ppf(0.975, n - 1) * error
    assert found.high - found.low == pytest.approx(2 * half, rel=2 / n)
    assert (found.low + found.high) / 2 == pytest.approx(found.mean)


def test_no_match_at_all_does_not_mean_no_reward() -> None:
    found = inverse_propensity(a_log([0.0] * 50, [0.5] * 50, [0, 1] * 25), Uniformly())
    assert found.mean == found.low == 0
    assert found.high == pytest.approx(-np.log(0.025) / 50)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(30, 200), st.floats(0.0, 1.0))
def test_an_interval_is_of_probabilities_and_widens_with_its_level(
    seed: int, n: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    matches = (rng.random(n) < share).astype(float).tolist()
    drawn = (rng.random(n) < 0.3).astype(int)
    log = a_log(matches, np.where(drawn, 0.3, 0.7).tolist(), drawn.tolist())
    try:
        demand_overlap(log, Uniformly())
    except OverlapError:
        return
    for estimate in (inverse_propensity, self_normalised):
        narrow, wide = (estimate(log, Uniformly(), level=level) for level in (0.8, 0.99))
        assert 0 <= wide.low <= narrow.low <= narrow.high <= wide.high <= 1
    assert 0 <= self_normalised(log, Uniformly()).mean <= 1 + 1e-12


@pytest.mark.parametrize("level", [0, 1, 1.5, "95%"])
def test_a_level_is_between_0_and_1(level: Any) -> None:
    with pytest.raises(SettingError, match="level must be"):
        inverse_propensity(a_log([1.0, 0.0], [0.5, 0.5]), Uniformly(), level=level)


def test_few_effective_rounds_are_noted() -> None:
    log = Log.of(played(Uniform(), 40))
    found = inverse_propensity(log, Fixed(0.0, 0.0, 0.0, 1.0))
    assert found.effective_n < 20
    assert "rounds are effective" in found.note
    assert "rounds are effective" in str(found)
