"""Bounds on a policy's reward that hold at every look, while rounds are still being logged.

The intervals of ``estimators`` are for one look at a log of a length fixed beforehand. Who waits
for the moment to switch to another policy looks again and again, and needs these.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.theory.matches import running_mean
from tellback.theory.shares import LEVEL, error_rate

CLIPS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Largest weights that are tried: low ones give short bounds early, high ones leave little out."""

Bounds = tuple[float, float]


def running_value(weights: Array, matches: Array, level: float = LEVEL) -> Bounds:
    """Bounds on the mean reward of a policy, valid however often one looks.

    A weight is pi(y_t) / p_t, or an unbiased sample of it: 1 / p_t where a response that was drawn
    from the policy is the one that was logged, and else 0. The lower bound is of the mean of
    min(w, c) M. It holds for any c, because clipped weights can only lower the mean; the best of
    ``CLIPS`` is taken, which share the error among them. The upper bound is the same of misses.
    Both hold without overlap: what the log could not have chosen counts as a miss below, and as a
    match above. Where p_t is not known, take it for 1: that, too, can only lower the weight.

    Parameters
    ----------
    weights, matches : Array
        At least one, in the order in which they became known; matches are 0 or 1.
    level : float
        The probability with which all bounds hold together.
    """
    return _lowest(weights, matches, 0.0, level), 1 - _lowest(weights, 1 - matches, 0.0, level)


def running_gain(weights: Array, matches: Array, level: float = LEVEL) -> Bounds:
    """The same of the policy's mean reward minus that of the policy which made the log."""
    return _lowest(weights, matches, 1.0, level), -_lowest(weights, 1 - matches, 1.0, level)


def _lowest(weights: Array, hits: Array, less: float, level: float) -> float:
    """A lower bound on the mean of hits (w - less)."""
    each = 1 - error_rate(level) / len(CLIPS)
    found = []
    for most in CLIPS:
        scaled = (hits * (np.minimum(weights, most) - less) + less) / most  # from 0 to 1
        found.append(float(running_mean(scaled, each).low[-1]) * most - less)
    return max(found)
