"""Bands hold whole curves at their stated rate, where intervals at each point do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import stdtrit

from tellback.errors import SettingError
from tellback.lab.bands import path_length, simultaneous_band

T = np.arange(1, 201)
Draw = Callable[[np.random.Generator, int], np.ndarray]


def learnt_worlds(rng: np.random.Generator, n: int) -> np.ndarray:
    """Regret that is nearly linear until a world is learnt, in some fast, in others slowly."""
    time = 40 * rng.lognormal(0.0, 0.6, (n, 1))
    rates = rng.beta(4.0, 2.0, (n, 1)) * np.exp(-T / time)
    return np.cumsum(rates * rng.gamma(4.0, 0.25, (n, len(T))), axis=1)


def learnt_worlds_mean() -> np.ndarray:
    z, weights = np.polynomial.hermite_e.hermegauss(60)
    decay = np.exp(-T[:, None] / (40 * np.exp(0.6 * z))) @ weights / weights.sum()
    return np.cumsum(2 / 3 * decay)


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    """Regret with steps of skewness 2.8 and a scale for each seed."""
    steps = rng.gamma(0.5, 1.0, (n, len(T))) / np.sqrt(T)
    return rng.lognormal(0.0, 0.5, (n, 1)) * np.cumsum(steps, axis=1)


def skewed_mean() -> np.ndarray:
    return np.cumsum(np.exp(0.125) * 0.5 / np.sqrt(T))


@pytest.mark.parametrize("n", [5, 10, 20, 40])
@pytest.mark.parametrize(
    # Measured: 0.962 to 0.975, and 0.936 to 0.971 for curves that are skewed most of all.
    ("draw", "truth", "least"),
    [(learnt_worlds, learnt_worlds_mean(), 0.94), (skewed, skewed_mean(), 0.915)],
)
def test_bands_hold_the_whole_curve_where_pointwise_intervals_do_not(
    n: int, draw: Draw, truth: np.ndarray, least: float
) -> None:
    rng = np.random.default_rng(n)
    repeats = 1000
    held = held_by_points = 0
    for _ in range(repeats):
        curves = draw(rng, n)
        mean, low, high = simultaneous_band(curves)
        held += bool(np.all((low <= truth) & (truth <= high)))
        half = stdtrit(n - 1, 0.975) * curves.std(axis=0, ddof=1) / np.sqrt(n)
        held_by_points += bool(np.all(np.abs(mean - truth) <= half))
    # Binomial standard error 0.007.
    assert least <= held / repeats <= 0.99
    assert held_by_points / repeats <= 0.83


def test_a_band_of_one_point_is_students_interval_for_the_logarithm() -> None:
    curves = np.array([[1.0], [2.0], [3.0]])
    mean, low, high = simultaneous_band(curves)
    # t_{0.975, 2} = 4.302653, standard error 1 / sqrt(3)
    exponent = 4.302653 / np.sqrt(3) / 2
    np.testing.assert_allclose(
        [mean, low, high], [[2], [2 / np.exp(exponent)], [2 * np.exp(exponent)]]
    )


@pytest.mark.parametrize("n", [3, 6, 20])
def test_the_observed_path_is_as_long_as_that_of_the_process(n: int) -> None:
    # a cos t + b sin t with Gaussian a and b moves along the sphere by t, for any n.
    rng = np.random.default_rng(n)
    t = np.linspace(0.0, np.pi / 2, 50)
    lengths = []
    for _ in range(2000):
        values = rng.standard_normal((n, 2)) @ np.array([np.cos(t), np.sin(t)])
        residuals = values - values.mean(axis=0)
        lengths.append(path_length(residuals / np.linalg.norm(residuals, axis=0)))
    error = np.std(lengths) / np.sqrt(len(lengths))
    assert abs(np.mean(lengths) - np.pi / 2) <= 3.5 * error
    assert error <= 0.03


@pytest.mark.parametrize("n", [4, 10, 40])
def test_the_quantile_lies_between_students_and_bonferronis(n: int) -> None:
    rng = np.random.default_rng(n)

    def quantile(curves: np.ndarray) -> float:
        mean, _, high = simultaneous_band(curves)
        relative = curves[:, -1].std(ddof=1) / mean[-1] / np.sqrt(n)
        return float(np.log(high[-1] / mean[-1]) / relative)

    student = stdtrit(n - 1, 0.975)
    bonferroni = stdtrit(n - 1, 1 - 0.025 / len(T))
    assert student < quantile(learnt_worlds(rng, n)) < bonferroni
    same_shape = rng.gamma(4.0, 1.0, (n, 1)) * np.sqrt(T)
    assert quantile(same_shape) == pytest.approx(student, rel=1e-5)
    unrelated = 100 * T + rng.standard_normal((n, len(T)))
    assert quantile(unrelated) == pytest.approx(bonferroni, rel=1e-6)


def test_two_curves_show_no_path_and_are_given_bonferronis_quantile() -> None:
    curves = np.array([[1.0, 2.0, 3.0], [1.1, 2.2, 3.3]])
    mean, _, high = simultaneous_band(curves)
    spread = curves.std(axis=0, ddof=1) / np.sqrt(2)
    expected = mean * np.exp(stdtrit(1, 1 - 0.025 / 3) * spread / mean)
    np.testing.assert_allclose(high, expected)


def test_bands_never_fall_and_hold_the_observed_mean() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 20):
        mean, low, high = simultaneous_band(skewed(rng, n))
        assert np.all((low > 0) & (low <= mean) & (mean <= high) & np.isfinite(high))
        assert np.all(np.diff(low) >= 0)
        assert np.all(np.diff(high) >= 0)


def test_bands_scale_with_their_curves_and_widen_with_their_level() -> None:
    curves = skewed(np.random.default_rng(0), 10)
    mean, low, high = simultaneous_band(curves)
    np.testing.assert_allclose(simultaneous_band(7 * curves), [7 * mean, 7 * low, 7 * high])
    _, lower, higher = simultaneous_band(curves, level=0.99)
    assert np.all((lower < low) & (high < higher))


def test_where_curves_agree_a_band_has_no_width() -> None:
    curves = np.array([[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.5, 3.2], [0.0, 1.0, 2.1, 3.9]])
    mean, low, high = simultaneous_band(curves)
    np.testing.assert_array_equal(low[:2], mean[:2])
    np.testing.assert_array_equal(high[:2], mean[:2])
    assert np.all(low[2:] < high[2:])
    for end in simultaneous_band(np.ones((4, 3))):
        np.testing.assert_array_equal(end, np.ones(3))


def test_one_curve_or_regret_that_falls_is_refused() -> None:
    with pytest.raises(SettingError, match="at least two"):
        simultaneous_band(np.ones((1, 5)))
    with pytest.raises(SettingError, match="never falls"):
        simultaneous_band(np.array([[2.0, 1.0], [3.0, 2.0]]))
    with pytest.raises(SettingError, match="never falls"):
        simultaneous_band(np.array([[-2.0, 1.0], [-3.0, 2.0]]))
    with pytest.raises(SettingError, match="level"):
        simultaneous_band(np.array([[2.0, 3.0], [3.0, 4.0]]), level=95)
