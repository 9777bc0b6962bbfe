"""Rewards from matches."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback import theory
from tellback.theory.matches import TUNINGS
from tests.support.theory import DELTAS, Floats, never_more_often


@given(
    s=st.sampled_from([float(s) for s in TUNINGS]),
    guess=st.floats(0, 1),
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    share=st.floats(0, 1),
    sign=st.sampled_from([1, -1]),
)
@settings(max_examples=300)
def test_fans_inequality_holds_for_every_guess_and_on_both_sides(
    s: float, guess: float, ends: tuple[float, float], share: float, sign: int
) -> None:
    # Distributions on two points are the extreme ones with a given mean.
    x, shares = np.array(ends), np.array([share, 1 - share])
    mean = float(shares @ x)
    psi = -math.log1p(-s) - s
    moment = float(shares @ np.exp(sign * s * (x - mean) - psi * (x - guess) ** 2))
    assert moment <= 1 + 1e-12


def drifting(rng: np.random.Generator, past: Floats, m: int, runs: int) -> Floats:
    chances: Floats = np.full(runs, 0.5 + 0.45 * math.sin(m / 150))
    return chances


def rare(rng: np.random.Generator, past: Floats, m: int, runs: int) -> Floats:
    chances: Floats = np.full(runs, 0.004 + 0.01 * (m % 7 == 0))
    return chances


def spiteful(rng: np.random.Generator, past: Floats, m: int, runs: int) -> Floats:
    """Higher after many matches, lower after few."""
    chances: Floats = np.where(past > 0, 0.8, 0.2)
    return chances


@pytest.mark.parametrize("expected", [drifting, rare, spiteful])
def test_all_intervals_hold_together_whatever_was_expected(
    expected: Callable[[np.random.Generator, Floats, int, int], Floats],
) -> None:
    rng = np.random.default_rng(4)
    runs, rounds, level = 400, 2000, 0.8
    chances, matches = np.empty((rounds, runs)), np.empty((rounds, runs))
    past = np.zeros(runs)
    for m in range(rounds):
        chances[m] = expected(rng, past, m, runs)
        matches[m] = rng.random(runs) < chances[m]
        past += matches[m] - chances[m]
    n = np.arange(1, rounds + 1)[:, None]
    truth = chances.cumsum(axis=0) / n
    # Normal intervals for one moment each, with the true variance.
    halves = stats.norm.ppf(0.9) * np.sqrt((chances * (1 - chances)).cumsum(axis=0)) / n
    missed = pointwise = 0
    widest = 0.0
    for run in range(runs):
        mean, low, high = theory.running_mean(matches[:, run], level)
        missed += not ((low <= truth[:, run]) & (truth[:, run] <= high)).all()
        pointwise += bool((np.abs(mean - truth[:, run]) > halves[:, run])[100:].any())
        widest = max(widest, float((high - low)[-1] / (2 * halves[-1, run])))
    assert never_more_often(missed, runs, 1 - level)
    assert not never_more_often(pointwise, runs, 1 - level)
    assert widest <= 5  # 3.2 to 4.4 measured: what it costs to hold at all times


def by_hand(observed: list[float], level: float) -> tuple[float, float]:
    """The interval after the last observation, from the definition, in forty digits."""
    with mpmath.workdps(40):
        total, variation = mpmath.mpf(0), mpmath.mpf(0)
        for m, x in enumerate(observed):
            variation += (x - (total + mpmath.mpf("0.5")) / (m + 1)) ** 2
            total += x
        share = (1 - mpmath.mpf(level)) / 15
        half = min(
            ((-mpmath.log(1 - s) - s) * variation + mpmath.log(2 / share)) / s
            for s in (mpmath.mpf(2) ** -power for power in range(1, 16))
        )
        n = len(observed)
        return float(max((total - half) / n, 0)), float(min((total + half) / n, 1))


@given(
    observed=st.lists(st.floats(0, 1), min_size=1, max_size=60),
    level=st.floats(0.01, 0.999),
    times=st.sampled_from([1, 7]),
)
@settings(max_examples=40, deadline=None)
def test_intervals_are_those_of_their_definition_in_forty_digits(
    observed: list[float], level: float, times: int
) -> None:
    mean, low, high = theory.running_mean(np.array(observed * times), level)
    expected = by_hand(observed * times, level)
    assert (low[-1], high[-1]) == pytest.approx(expected, rel=1e-8, abs=1e-10)
    assert mean[-1] == pytest.approx(np.mean(observed))


@given(observed=st.lists(st.floats(0, 1), max_size=200), levels=st.tuples(DELTAS, DELTAS))
@settings(max_examples=60, deadline=None)
def test_intervals_hold_the_mean_mirror_each_other_and_widen_with_the_level(
    observed: list[float], levels: tuple[float, float]
) -> None:
    matches = np.array(observed)
    narrow = theory.running_mean(matches, min(levels))
    wide = theory.running_mean(matches, max(levels))
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()
    assert ((narrow.low <= narrow.mean + 1e-12) & (narrow.mean <= narrow.high + 1e-12)).all()
    assert ((wide.low >= 0) & (wide.high <= 1)).all()
    mirrored = theory.running_mean(1 - matches, min(levels))
    assert np.allclose(mirrored.low, 1 - narrow.high)
    assert np.allclose(mirrored.high, 1 - narrow.low)


@pytest.mark.parametrize("always", [0.0, 1.0])
def test_an_unbroken_row_of_equal_matches_narrows_to_them(always: float) -> None:
    mean, low, high = theory.running_mean(np.full(100_000, always))
    assert (mean == always).all()
    assert ((low <= always) & (always <= high)).all()
    assert (np.diff(high - low) <= 1e-15).all()
    # Nearly log(2 * 15 / 0.05) / s / n with s = 1/2, far less than 1 / sqrt(n).
    assert (high - low)[-1] == pytest.approx(2 * math.log(600) / 100_000, rel=0.02)


def test_one_match_says_next_to_nothing_and_none_nothing() -> None:
    one = theory.running_mean(np.array([1.0]))
    assert [bounds.tolist() for bounds in one] == [[1.0], [0.0], [1.0]]
    assert all(len(bounds) == 0 for bounds in theory.running_mean(np.array([])))


def test_the_past_of_an_interval_does_not_change() -> None:
    matches = (np.random.default_rng(5).random(500) < 0.3).astype(np.float64)
    whole, part = theory.running_mean(matches), theory.running_mean(matches[:200])
    for all_of_it, some in zip(whole, part, strict=True):
        assert np.array_equal(all_of_it[:200], some)
