"""Confidence bands for a whole mean curve, not point by point."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.lab.compare import LEVEL, error_rate

SLACK = 1e-6  # by which regret may fall, from rounding

LARGEST = 300.0  # the largest exponent, against overflow


def simultaneous_band(curves: Array, level: float = LEVEL) -> tuple[Array, Array, Array]:
    """The mean of regret curves, and a band that holds the true mean at all points at once.

    At a point with mean m and standard deviation s over n curves, the band reaches from
    m / f to m * f, where log f = q * s / (m * sqrt(n)): an interval for the logarithm of the
    mean. Regret is skewed, and a low mean comes with a low s; an interval that is symmetric
    about m then ends too low. Where all curves agree, the band has no width.

    The quantile q is that of the largest Student statistic along the curve. The statistic
    exceeds u somewhere if it does so at the first point or crosses u on the way, and Rice's
    formula gives the expected number of crossings from the length of the path of the
    standardised residuals on the unit sphere (the Gaussian kinematic formula for t, Telschow
    and Schwartzman 2019). The observed length is unbiased for Gaussian curves, even if n is
    small and the covariance of the curves cannot be estimated. Bonferroni's q is a cap.

    As cumulative regret never falls, neither does its mean: the lower end of the band holds
    for all later points too, and the upper end for all earlier ones. This shortens the band
    and costs nothing.

    How often the 95% band held the means at all of 200 points, in 4000 simulations of each
    kind (standard error 0.004); and how often Student's intervals at each point did, at most.
    The first two kinds are draws from 800 runs with 100 instructions.

    | curves | n = 5 | n = 10 | n = 20 | n = 40 | pointwise |
    |---|---|---|---|---|---|
    | LORIL, 400 rounds of Synthetic | 0.980 | 0.970 | 0.965 | 0.962 | 0.63 |
    | greedy, 400 rounds of Synthetic | 0.975 | 0.959 | 0.958 | 0.965 | 0.62 |
    | worlds that are learnt fast or slowly | 0.975 | 0.964 | 0.967 | 0.962 | 0.79 |
    | mistakes that become rare | 0.948 | 0.975 | 0.972 | 0.982 | 0.65 |
    | skewed steps, scale lognormal(0, 0.5) | 0.971 | 0.938 | 0.936 | 0.953 | 0.75 |
    | more skewed steps, scale lognormal(0, 1) | 0.916 | 0.839 | 0.838 | 0.872 | 0.67 |

    With two or three curves the band is very wide.

    Parameters
    ----------
    curves : Array
        Cumulative regret over the rounds, a row a seed, two rows or more.
    level : float
        The probability with which the band holds the whole curve.

    Returns
    -------
    tuple of Array
        The mean, and the lower and upper end of the band.
    """
    curves, alpha = np.asarray(curves, dtype=np.float64), error_rate(level)
    if curves.ndim != 2 or len(curves) < 2:
        raise SettingError(f"A band needs at least two curves, not shape {curves.shape}.")
    mean, spread = curves.mean(axis=0), curves.std(axis=0, ddof=1)
    if (np.diff(mean, prepend=0.0) < -SLACK).any():
        raise SettingError("Cumulative regret starts at zero or above, and never falls.")
    wide = (spread > 0) & (mean > 0)
    if not wide.any():
        return mean, mean, mean
    q = _quantile(_unit(curves[:, wide]), alpha)
    exponent = np.zeros_like(mean)
    exponent[wide] = q * spread[wide] / (mean[wide] * np.sqrt(len(curves)))
    factor = np.exp(np.minimum(exponent, LARGEST))
    low = np.maximum.accumulate(mean / factor)
    high = np.minimum.accumulate((mean * factor)[::-1])[::-1]
    return mean, low, high


def path_length(unit: Array) -> float:
    """The length of the path from column to column of unit vectors, along great circles."""
    chords = np.linalg.norm(np.diff(unit, axis=1), axis=0)
    return float(2 * np.arcsin(np.minimum(chords / 2, 1.0)).sum())


def _unit(curves: Array) -> Array:
    """The residuals at each point, scaled to a vector of length one."""
    residuals = curves - curves.mean(axis=0)
    unit: Array = residuals / np.linalg.norm(residuals, axis=0)
    return unit


def _quantile(unit: Array, alpha: float) -> float:
    """The value that the largest Student statistic exceeds with probability at most alpha."""
    from scipy.optimize import brentq  # slow to import, and workers do not need it
    from scipy.special import stdtr, stdtrit

    freedom, points = len(unit) - 1, unit.shape[1]
    crossings = path_length(unit) / (2 * np.pi)

    def excess(u: float) -> float:
        above = stdtr(freedom, -u)
        return float(above + crossings * (1 + u * u / freedom) ** ((1 - freedom) / 2) - alpha / 2)

    at_a_point = float(stdtrit(freedom, 1 - alpha / 2))
    bonferroni = float(stdtrit(freedom, 1 - alpha / (2 * points)))
    # The residuals of two curves are plus and minus a number: there is no path.
    if freedom == 1 or not excess(bonferroni) < 0:
        return bonferroni
    return at_a_point if excess(at_a_point) <= 0 else brentq(excess, at_a_point, bonferroni)
