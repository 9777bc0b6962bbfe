"""Intervals cover at their stated rate, and comparisons say what they know."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.errors import SettingError
from tellback.lab import less_regret, mean_regret, running_less_regret
from tellback.lab.compare import Difference, mean_of


def paired_regrets(rng: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Regrets with a common, skewed part (the world's) and a part of each agent's own."""
    common = rng.gamma(8.0, 1.0, n)
    theirs = common + rng.gamma(2.0, 0.5, n)
    ours = (1 - share) * (common + rng.gamma(2.0, 0.5, n))
    return ours, theirs


@pytest.mark.parametrize("n", [5, 10, 40])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_paired_intervals_cover_at_their_stated_rate(n: int, share: float) -> None:
    rng = np.random.default_rng(n)
    repeats = 4000
    covered = 0
    for _ in range(repeats):
        difference = less_regret(*paired_regrets(rng, n, share))
        covered += difference.low <= share <= difference.high
    # Binomial standard error 0.0034; skewness costs a little at n = 5.
    assert 0.935 <= covered / repeats <= 0.965


def test_under_a_null_a_false_win_is_as_rare_as_stated() -> None:
    rng = np.random.default_rng(1)
    verdicts = [less_regret(*paired_regrets(rng, 20, 0.0)).verdict for _ in range(4000)]
    assert 0.015 <= verdicts.count("less") / 4000 <= 0.035
    assert 0.015 <= verdicts.count("more") / 4000 <= 0.035


def test_mean_intervals_are_students() -> None:
    estimate = mean_of(np.array([1.0, 2.0, 3.0]))
    # t_{0.975, 2} = 4.302653, standard error 1 / sqrt(3)
    assert estimate.mean == 2.0
    assert estimate.high == pytest.approx(2 + 4.302653 / np.sqrt(3), rel=1e-6)
    assert estimate.low == pytest.approx(2 - 4.302653 / np.sqrt(3), rel=1e-6)
    assert mean_regret(np.array([11.0, 12.0, 13.0])) == mean_of(np.array([11.0, 12.0, 13.0]))


def test_comparisons_at_a_higher_level_hold_together() -> None:
    rng = np.random.default_rng(2)
    together = 0
    for _ in range(1000):
        several = (less_regret(*paired_regrets(rng, 10, 0.1), level=1 - 0.05 / 5) for _ in range(5))
        together += all(difference.low <= 0.1 <= difference.high for difference in several)
    # Five independent comparisons at 0.95 would hold together with 0.77; standard error 0.007.
    assert 0.93 <= together / 1000 <= 0.975
    # t_{0.995, 2} = 9.924843
    estimate = mean_regret(np.array([1.0, 2.0, 3.0]), level=0.99)
    assert estimate.high == pytest.approx(2 + 9.924843 / np.sqrt(3), rel=1e-6)
    with pytest.raises(SettingError, match="level"):
        mean_regret(np.ones(3), level=95)


def test_pairing_removes_what_the_runs_have_in_common() -> None:
    rng = np.random.default_rng(0)
    common = rng.gamma(2.0, 10.0, 20)
    paired = less_regret(0.9 * common + 0.01 * rng.random(20), common)
    shuffled = less_regret(0.9 * rng.permutation(common), common)
    assert paired.high - paired.low < 0.1 * (shuffled.high - shuffled.low)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 0.2, "less"), (-0.2, -0.1, "more"), (-0.1, 0.1, "undecided")],
)
def test_a_difference_is_undecided_when_its_interval_holds_zero(
    low: float, high: float, verdict: str
) -> None:
    assert Difference((low + high) / 2, low, high, 9).verdict == verdict


def test_two_pairs_decide_nothing() -> None:
    found = less_regret(np.array([1.0, 1.001]), np.array([2.0, 2.0]))
    assert found.low > 0
    assert found.verdict == "undecided"
    assert less_regret(np.array([1.0, 1.001, 1.0]), np.array([2.0, 2.0, 2.0])).verdict == "less"
    assert less_regret(np.array([2.0, 2.0]), np.array([1.0, 1.001])).verdict == "undecided"


def test_intervals_end_where_regret_and_savings_do() -> None:
    few = mean_regret(np.array([0.0, 10.0]), at_most=12)
    assert (few.low, few.mean, few.high) == (0.0, 5.0, 12.0)
    assert mean_of(np.array([0.0, 10.0])).low < 0  # of slopes, say
    saved = less_regret(np.array([0.1, 0.0, 2.0]), np.array([5.0, 9.0, 2.5]))
    assert saved.high == 1.0
    assert 0 < saved.low < saved.less - 0.5
    inside = less_regret(np.array([4.0, 8.1, 2.0]), np.array([5.0, 9.0, 2.5]))
    assert inside.high < 1
    assert inside.high - inside.less == pytest.approx(inside.less - inside.low)


def test_one_run_or_unequal_numbers_are_refused() -> None:
    with pytest.raises(SettingError, match="at least two"):
        mean_regret(np.array([1.0]))
    with pytest.raises(SettingError, match="Pairs"):
        less_regret(np.ones(3), np.ones(4))
    with pytest.raises(SettingError, match="not above zero"):
        less_regret(np.ones(3), np.zeros(3))
    gap = np.array([1.0, np.nan, 1.0])
    with pytest.raises(SettingError, match="One of their regrets is nan"):
        less_regret(np.ones(3), gap)
    with pytest.raises(SettingError, match="One of our regrets is nan"):
        running_less_regret(gap, np.ones(3))


def test_without_spread_there_is_no_verdict() -> None:
    found = less_regret(np.zeros(3), np.ones(3))
    assert found.verdict == "undecided"
    assert str(found) == "+100.0% (the same in all pairs: no interval), n = 3"


def test_without_spread_a_mean_has_no_interval() -> None:
    assert str(mean_regret(np.full(6, 0.05))) == "0.05 (the same in all runs: no interval)"
    assert str(mean_regret(np.zeros(3))) == "0 (the same in all runs: no interval)"
    assert str(mean_regret(np.array([1.0, 2.0, 3.0]))).startswith("2 [")
