"""The power of t with which regret grows."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices
from tellback.lab.compare import MeanInterval, mean_of

FITTED_FROM = 0.1
"""The share of a run that is left out: its beginning is not yet a power of t."""


def growth(t: Indices, curves: Array) -> MeanInterval | None:
    """The slope of log regret against log t, fitted to each curve: its mean and interval.

    Parameters
    ----------
    t : Indices
        The rounds.
    curves : Array
        Cumulative regret, a row a seed.

    Returns
    -------
    MeanInterval or None
        None where regret is zero somewhere in the fitted stretch, or one seed is all.
    """
    late = t >= FITTED_FROM * t[-1]
    return power(t[late], curves[:, late])


def power(sizes: Indices, regrets: Array) -> MeanInterval | None:
    """The slope of log regret against the log of a size, fitted to each seed.

    Parameters
    ----------
    sizes : Indices
        The sizes.
    regrets : Array
        Regret, a row a seed and a column a size.

    Returns
    -------
    MeanInterval or None
        The mean slope and its interval; None where a regret is zero, or one seed is all.
    """
    if len(sizes) < 2 or len(regrets) < 2 or not (regrets > 0).all():
        return None
    x = np.log(sizes)
    x = x - x.mean()
    return mean_of(np.log(regrets) @ x / (x @ x))
