"""A running comparison stays honest however often it is looked at, and comes to an end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from tellback.errors import SettingError
from tellback.lab import less_regret, running_less_regret
from tellback.lab.sequential import EFFECT, MIN_PAIRS, critical, evidence

N = np.arange(1, 201)


def paired_regrets(
    rng: np.random.Generator, shape: tuple[int, ...], share: float, own: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Regrets with a common, skewed part (the world's) and a part of each agent's own."""
    common = rng.gamma(8.0, 1.0, shape)
    theirs = common + rng.gamma(2.0, own, shape)
    ours = (1 - share) * (common + rng.gamma(2.0, own, shape))
    return ours, theirs


def squares(differences: np.ndarray) -> np.ndarray:
    """Student's t squared of the first n differences of each row, for n from MIN_PAIRS on."""
    mean = np.cumsum(differences, axis=1) / N
    squared = np.cumsum(differences**2, axis=1) - N * mean**2
    chosen = MIN_PAIRS - 1
    result: np.ndarray = (N * (N - 1) * mean**2)[:, chosen:] / squared[:, chosen:]
    return result


def ever_wrong(differences: np.ndarray) -> tuple[float, float]:
    """How often the true share is ever excluded: by the sequence, by fixed intervals."""
    looks = N[MIN_PAIRS - 1 :]
    t2 = squares(differences)
    sequence = t2 > np.array([critical(int(n)) for n in looks])
    fixed = t2 > stats.t.ppf(0.975, looks - 1) ** 2
    return float(sequence.any(axis=1).mean()), float(fixed.any(axis=1).mean())


@pytest.mark.parametrize("n", [2, 5, 10, 30])
@pytest.mark.parametrize("t", [0.0, 0.7, -2.5, 6.0])
def test_evidence_is_the_bayes_factor_of_students_t(t: float, n: int) -> None:
    def weighed(effect: float) -> float:
        likelihood = stats.nct.pdf(t, n - 1, np.sqrt(n) * effect)
        return float(likelihood * stats.norm.pdf(effect, scale=np.sqrt(EFFECT)))

    integral, _ = integrate.quad(weighed, -5.0, 5.0, points=[0.0, t / np.sqrt(n)], limit=200)
    assert evidence(t, n) == pytest.approx(integral / stats.t.pdf(t, n - 1), rel=1e-5)


@pytest.mark.parametrize("n", [2, 5, 10, 30])
def test_evidence_against_the_truth_is_one_on_average(n: int) -> None:
    def weighed(t: float) -> float:
        return evidence(t, n) * float(stats.t.pdf(t, n - 1))

    integral, _ = integrate.quad(weighed, 0.0, np.inf, limit=200)
    assert 2 * integral == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.995])
@pytest.mark.parametrize("n", [10, 20, 50, 200])
def test_the_critical_value_is_where_evidence_suffices(n: int, level: float) -> None:
    root = optimize.brentq(lambda t: evidence(t, n) - 1 / (1 - level), 0.0, 100.0, xtol=1e-12)
    assert critical(n, level) == pytest.approx(root**2, rel=1e-8)


def test_where_no_evidence_suffices_the_critical_value_is_infinite() -> None:
    assert critical(5) == np.inf
    assert evidence(1e9, 5) < 20
    assert critical(6) < np.inf
    assert evidence(1e9, 6) > 20


@pytest.mark.parametrize("n", [10, 25])
def test_the_interval_holds_the_shares_that_are_not_excluded(n: int) -> None:
    rng = np.random.default_rng(n)
    for own in (0.5, 4.0):
        ours, theirs = paired_regrets(rng, (n,), 0.2, own)
        found = running_less_regret(ours, theirs)
        shares = np.linspace(-5.0, 5.0, 200001)
        differences = (1 - shares[:, None]) * theirs - ours
        t = np.sqrt(n) * differences.mean(axis=1) / differences.std(axis=1, ddof=1)
        more = 1 + n * EFFECT
        factor = ((1 + t**2 / (n - 1)) / (1 + t**2 / (n - 1) / more)) ** (n / 2) / np.sqrt(more)
        kept = shares[factor < 20]
        assert found.low == pytest.approx(kept.min(), abs=1e-4)
        assert found.high == pytest.approx(kept.max(), abs=1e-4)
        assert found.low < found.less < found.high
        assert len(kept) == pytest.approx((kept.max() - kept.min()) / 5e-5, abs=2)  # no gaps


def test_looking_after_every_seed_errs_as_rarely_as_stated_and_fixed_intervals_do_not() -> None:
    rng = np.random.default_rng(0)
    repeats = 4000
    sequence, fixed = ever_wrong(rng.standard_normal((repeats, len(N))))
    # At most 0.05, to n without end; measured to n = 200: 0.031, standard error 0.003.
    assert 0.02 <= sequence <= 0.042
    assert fixed >= 0.3


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_skewed_regrets_do_not_make_it_err_more_often(share: float) -> None:
    ours, theirs = paired_regrets(np.random.default_rng(1), (4000, len(N)), share)
    sequence, fixed = ever_wrong((1 - share) * theirs - ours)
    assert sequence <= 0.05 - 2 * 0.0034  # binomial standard errors
    assert fixed >= 0.3


def test_differences_of_skewness_two_make_it_err_as_often_as_documented() -> None:
    differences = np.random.default_rng(2).exponential(1.0, (4000, len(N))) - 1
    sequence, fixed = ever_wrong(differences)
    assert sequence == pytest.approx(0.103, abs=3.5 * 0.005)
    assert fixed >= 0.35


def test_the_verdict_agrees_with_the_evidence_at_every_look() -> None:
    rng = np.random.default_rng(3)
    ours, theirs = paired_regrets(rng, (20, len(N)), 0.05)
    t2 = squares(theirs - ours)
    for row in range(20):
        for n in (10, 11, 20, 50, 200):
            found = running_less_regret(ours[row, :n], theirs[row, :n])
            excluded = t2[row, n - MIN_PAIRS] > critical(n)
            assert (found.verdict != "undecided") == excluded


def test_a_fifth_less_regret_is_found_with_some_twenty_seeds() -> None:
    rng = np.random.default_rng(4)
    decided = []
    for _ in range(200):
        # Differences whose mean is two thirds of their standard deviation.
        ours, theirs = paired_regrets(rng, (120,), 0.2, own=2.0)
        looks = ((n, running_less_regret(ours[:n], theirs[:n]).verdict) for n in range(2, 121))
        decided.append(next(((n, v) for n, v in looks if v != "undecided"), (121, "undecided")))
    numbers = [n for n, _ in decided]
    assert 15 <= np.median(numbers) <= 26  # measured: 20
    assert np.quantile(numbers, 0.9) <= 60  # measured: 43
    assert sum(v == "less" for _, v in decided) >= 195


def test_being_free_to_look_costs_six_tenths_of_the_length() -> None:
    ours, theirs = paired_regrets(np.random.default_rng(5), (30,), 0.2)
    once, running = less_regret(ours, theirs), running_less_regret(ours, theirs)
    assert running.less == once.less
    assert (running.high - running.low) / (once.high - once.low) == pytest.approx(1.6, abs=0.05)
    surer = running_less_regret(ours, theirs, level=0.99)
    assert surer.low < running.low < running.high < surer.high


def test_few_pairs_and_regrets_near_zero_leave_it_unbounded() -> None:
    ours, theirs = paired_regrets(np.random.default_rng(6), (MIN_PAIRS,), 0.9)
    assert running_less_regret(ours, theirs).verdict == "less"
    few = running_less_regret(ours[:-1], theirs[:-1])
    assert (few.low, few.high, few.verdict) == (-np.inf, 1.0, "undecided")
    rarely = np.zeros(20)
    rarely[3] = 1.0  # a mean that cannot be told from zero
    vague = running_less_regret(np.linspace(1.0, 2.0, 20), rarely)
    assert (vague.low, vague.high, vague.verdict) == (-np.inf, 1.0, "undecided")


def test_agents_that_never_differ_are_known_exactly() -> None:
    theirs = np.linspace(1.0, 2.0, 20)
    found = running_less_regret(0.75 * theirs, theirs)
    assert (found.low, found.high) == pytest.approx((0.25, 0.25), abs=1e-6)


def test_unequal_numbers_and_impossible_levels_are_refused() -> None:
    with pytest.raises(SettingError, match="Pairs"):
        running_less_regret(np.ones(3), np.ones(4))
    with pytest.raises(SettingError, match="at least two"):
        running_less_regret(np.ones(1), np.ones(1))
    with pytest.raises(SettingError, match="not above zero"):
        running_less_regret(np.ones(12), np.zeros(12))
    with pytest.raises(SettingError, match="level"):
        running_less_regret(np.ones(12), np.ones(12), level=1.0)
