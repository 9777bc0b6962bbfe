"""Intervals for a mean of weighted matches, many or few."""

from __future__ import annotations

import math

from tellback.arrays import Array
from tellback.off_policy.overlap import effective

MANY = 30
"""From so many effective matches, and misses, on, Student's interval is used."""


def interval(
    terms: Array, weights: Array, matches: Array, level: float
) -> tuple[float, float, str]:
    """An interval for the mean of ``terms``, which hold each weighted match once, and its kind.

    Where matches and misses are many, Student's: deviations from the expected terms are
    martingale differences, and the spread of the expectations themselves makes it only
    longer. Where either are few, their weighted sum is far from Gaussian and its spread badly
    known (with none it would seem zero). Then the few are counted as Poisson events with
    weights, whose sum has the gamma interval of Fay and Feuer (1997), exact for equal weights
    and for others conservative wherever it was tried; the rest of the terms gets Student's,
    and the two lengths are joined as the sides of a right angle (Zou and Donner 2008), which
    is too long rather than too short, because the rest falls where the few rise.

    Parameters
    ----------
    terms : Array
        What is averaged, one a round.
    weights : Array
        What a match adds to its term.
    matches : Array
        0 or 1.
    level : float
        How often the interval shall hold the expected mean.
    """
    mean, tail = float(terms.mean()), (1 - level) / 2
    hits, misses = weights * matches, weights * (1 - matches)
    many_hits, many_misses = effective(hits), effective(misses)
    if min(many_hits, many_misses) >= MANY:
        half = _student(terms, tail)
        return mean - half, mean + half, "student"
    largest = float(weights.max())
    if many_hits <= many_misses:
        below, above = _gamma(hits, largest, tail)
        half = _student(terms - hits, tail)
        kind = f"gamma, {many_hits:.1f} effective matches"
    else:
        above, below = _gamma(misses, largest, tail)
        half = _student(terms + misses, tail)
        kind = f"gamma, {many_misses:.1f} effective misses"
    return mean - math.hypot(below, half), mean + math.hypot(above, half), kind


def _student(terms: Array, tail: float) -> float:
    """Half the length of Student's interval for a mean."""
    from scipy.special import stdtrit  # slow to import

    n = len(terms)
    return float(stdtrit(n - 1, 1 - tail) * terms.std(ddof=1) / math.sqrt(n))


def _gamma(events: Array, largest: float, tail: float) -> tuple[float, float]:
    """How far below and above its mean the interval of a weighted count ends."""
    from scipy.special import gammaincinv

    total, squares = float(events.sum()), float(events @ events)
    low = squares / total * gammaincinv(total**2 / squares, tail) if total else 0.0
    # One more event of the largest weight, as exact intervals for counts have it.
    more, spread = total + largest, squares + largest**2
    high = spread / more * gammaincinv(more**2 / spread, 1 - tail) if more else 0.0
    return float(total - low) / len(events), float(high - total) / len(events)
