"""Rewards from matches: 1[x' = x] is a sample of the reward, if the teacher has not seen x."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, real
from tellback.theory.shares import LEVEL, Share

TUNINGS = 0.5 ** np.arange(1, 16)
"""The scales that a running mean is watched at: deviations large and early, small and late."""

BETS = np.array([sign * 4.0**power for sign in (1, -1) for power in range(-4, 2)])
"""The stakes on more matches, or fewer, than there should be: for differences of any size."""


class Interval(NamedTuple):
    """A running mean with bounds, one entry for each observation."""

    mean: Array
    low: Array
    high: Array


def running_mean(observed: Array, level: float = 0.95) -> Interval:
    """The mean of what was expected, with bounds that hold after every observation at once.

    Of observations from 0 to 1, the m-th expected to be r_m given the past, whatever the r_m.
    For any guess c_m made before, E exp(s (X - r) - psi(s) (X - c)^2) <= 1 with
    psi(s) = -log(1 - s) - s (Fan et al. 2015), so that by Ville's inequality the sum of
    X - r stays below (psi(s) V + log(2 / alpha_s)) / s for all m, V being the sum of
    (X - c)^2. The least of several s is taken, which share alpha = 1 - level among them; the
    guess is the mean so far, with an observation of 1/2 before the first. Both sides alike.

    Parameters
    ----------
    observed : Array
        From 0 to 1, in the order in which they were made.
    level : float
        The probability with which all intervals hold together.
    """
    observed = np.asarray(observed, dtype=np.float64)
    if observed.ndim != 1:
        raise SettingError(f"observed must be one row of numbers, not of shape {observed.shape}.")
    if not ((observed >= 0) & (observed <= 1)).all():  # NaN too
        raise SettingError("observed must be from 0 to 1.")
    alpha = 1 - real("level", level, above=0)
    if not alpha > 0:
        raise SettingError(f"level must be below 1, not {level!r}.")
    n = np.arange(1, len(observed) + 1)
    sums = np.cumsum(observed)
    guesses = (0.5 + np.concatenate([[0.0], sums[:-1]])) / n
    variation = np.cumsum((observed - guesses) ** 2)
    half = np.full(len(observed), np.inf)
    for s in TUNINGS:
        psi = -math.log1p(-s) - s
        half = np.minimum(half, (psi * variation + math.log(2 * len(TUNINGS) / alpha)) / s)
    mean = sums / n
    return Interval(mean, np.maximum(mean - half / n, 0), np.minimum(mean + half / n, 1))


def match_evidence(matches: Array, low: Array, high: Array) -> float:
    """The evidence that matches are not as likely as they are said to be (a log e-value).

    Given the past, the m-th match has a probability p_m between low and high. For any stake s,
    prod exp(s M) / (1 - p + p e^s) is then a supermartingale that starts at 1, with p = high if
    s > 0 and p = low if s < 0 (the two being equal, a martingale). So is the mean over several
    s. By Ville's inequality it ever reaches 1 / alpha with a probability of at most alpha: the
    bound holds whenever one looks, and needs no estimate of a variance.
    """
    return evidence_of(gains(matches, low, high))


def gains(matches: Array, low: Array, high: Array) -> Array:
    """The logarithm of what each stake has become. Those of later rounds are added."""
    total = float(np.sum(matches))
    logs = [
        s * total - float(np.log1p((high if s > 0 else low) * math.expm1(s)).sum()) for s in BETS
    ]
    return np.array(logs)


def evidence_of(logs: Array) -> float:
    """The logarithm of the mean over the stakes."""
    return float(np.logaddexp.reduce(logs)) - math.log(len(BETS))


def running_share(true: Array, level: float = LEVEL) -> Share:
    """The share so far of which something is true, with an interval that may be watched.

    The last interval of ``running_mean``: all that were shown after each observation hold
    together with this level, where Clopper and Pearson's holds for one look at a number fixed
    beforehand. It is longer.

    Parameters
    ----------
    true : Array
        Truth values, at least one, in the order in which they became known.
    level : float
        The probability with which all intervals hold together.
    """
    if not len(true):
        raise SettingError("A share needs at least one observation.")
    found = running_mean(np.asarray(true, dtype=np.float64), level)
    return Share(float(found.mean[-1]), float(found.low[-1]), float(found.high[-1]), len(true))
