"""How many of a finite number are wrong, by a random sample of them. No model is needed."""

from __future__ import annotations

from collections.abc import Callable

from tellback.theory.shares import LEVEL, error_rate


def number_wrong(of: int, sampled: int, found: int, level: float = LEVEL) -> tuple[int, int]:
    """The interval of how many are wrong, with those found.

    Drawn without replacement, so the tails are hypergeometric. The interval holds the true number
    with at least this level.

    Parameters
    ----------
    of : int
        How many there are.
    sampled : int
        How many of them were drawn.
    found : int
        How many of those are wrong.
    level : float
        The level.

    Examples
    --------
    >>> number_wrong(of=1000, sampled=300, found=0)
    (0, 10)
    >>> number_wrong(of=1000, sampled=0, found=0)
    (0, 1000)
    """
    from scipy.stats import hypergeom

    tail = error_rate(level) / 2
    least, most = found, of - (sampled - found)

    def too_few(wrong: int) -> bool:
        return bool(hypergeom.sf(found - 1, of, wrong, sampled) <= tail)

    def too_many(wrong: int) -> bool:
        return bool(hypergeom.cdf(found, of, wrong, sampled) <= tail)

    low = _first(least, most, lambda wrong: not too_few(wrong))
    return low, _first(low, most + 1, too_many) - 1


def _first(low: int, high: int, true: Callable[[int], bool]) -> int:
    """The first from ``low`` for which it is true, or ``high`` if none before is."""
    while low < high:
        middle = (low + high) // 2
        if true(middle):
            high = middle
        else:
            low = middle + 1
    return low
