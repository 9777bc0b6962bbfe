"""Intervals for a mean of weighted matches, many or few."""

from __future__ import annotations

import math

from tellback.arrays import Array

MANY = 20
"""From so many matches and misses on, counted in largest weights, Student's interval is used."""


def deviations(
    terms: Array, weights: Array, matches: Array, level: float
) -> tuple[float, float, str]:
    """How far below and above the mean of ``terms`` its interval ends, and which kind it is.

    Where matches and misses are many, Student's: deviations from the expected terms are
    martingale differences, and the spread of the expectations themselves makes it only
    longer. Where either are few, their weighted sum is far from Gaussian and its spread badly
    known (with none it would seem zero). Then the few are counted as Poisson events with
    weights, whose sum has the gamma interval of Fay and Feuer (1997), exact for equal weights
    and for others conservative wherever it was tried; the rest of the terms gets Student's,
    and the two lengths are joined as standard errors are (Zou and Donner 2008).

    Few means: few in units of the largest weight. A hundred matches of weight 1 are few where
    one of weight 20 might as well have been among them.

    Parameters
    ----------
    terms : Array
        What is averaged, one a round; each holds its weighted match once.
    weights : Array
        What a match adds to its term.
    matches : Array
        0 or 1.
    level : float
        How often the interval shall hold the expected mean.
    """
    tail = (1 - level) / 2
    hits, misses = weights * matches, weights * (1 - matches)
    largest = float(weights.max())
    if min(hits.sum(), misses.sum()) >= MANY * largest:
        half = _student(terms, tail)
        return half, half, "student"
    if hits.sum() <= misses.sum():
        below, above = _gamma(hits, largest, tail)
        events, rest = hits, terms - hits
    else:
        above, below = _gamma(misses, largest, tail)
        events, rest = -misses, terms + misses
    half = _student(rest, tail)
    # Of few events, how they go with the rest is badly known too: take that for less.
    few = abs(float(events.sum())) / largest if largest else 0.0
    together = _correlation(events, rest) * few / (few + 2)
    return _joined(below, half, together), _joined(above, half, together), "gamma"


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


def _correlation(one: Array, other: Array) -> float:
    """Of two rows of numbers; 0 if either never varies."""
    one, other = one - one.mean(), other - other.mean()
    lengths = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / lengths if lengths else 0.0


def _joined(one: float, other: float, correlation: float) -> float:
    """The deviation of a sum from those of its parts."""
    return math.sqrt(max(one**2 + other**2 + 2 * correlation * one * other, 0.0))
