"""Shares of a finite population, by a random sample of it."""

from __future__ import annotations

import numpy as np

from tellback.errors import SettingError
from tellback.theory.shares import LEVEL, Share, error_rate


def sampled_share(yes: int, n: int, population: int, level: float = LEVEL) -> Share:
    """The share of a finite population, by a random sample of it without replacement.

    If things are looked at one by one in a random order, the intervals after each of them hold
    together with this level: so one may look as often as one likes, and stop at will. They are the
    confidence sequence of the prior-posterior ratio (Waudby-Smith and Ramdas 2020) with a uniform
    prior on the number that is true. Once all were looked at, the share is known.

    Parameters
    ----------
    yes, n : int
        So many were true, of so many that were looked at.
    population : int
        How many there are, those included.
    level : float
        The probability with which all intervals hold together.
    """
    from scipy.special import betaln, gammaln  # slow to import, and workers do without

    if not 0 < n <= population:
        raise SettingError(f"n must be from 1 to {population}, the population, not {n}.")
    left = population - n
    more = np.arange(left + 1)  # true ones among those that nobody looked at
    choose = gammaln(left + 1) - gammaln(more + 1) - gammaln(left - more + 1)
    own, other = 1 + yes, 1 + n - yes
    posterior = choose + betaln(more + own, left - more + other) - betaln(own, other)
    kept = more[posterior >= np.log(error_rate(level)) - np.log(population + 1)]
    low, high = (float(yes + kept[i]) / population for i in (0, -1))
    return Share(yes / n, low, high, n)
