"""The power with which regret grows: with t, or with a size."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices
from tellback.lab.compare import MeanInterval, mean_of

FITTED_FROM = 0.1
"""The first tenth of a run is left out: it is not yet a power of t."""


def power_of_t(t: Indices, curves: Array) -> MeanInterval | None:
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
        None if regret is zero somewhere in the fitted part, or there is only one seed.
    """
    late = t >= FITTED_FROM * t[-1]
    return fitted_power(t[late], curves[:, late])


def fitted_power(sizes: Indices, regrets: Array) -> MeanInterval | None:
    """The same against any size: regrets have a row for each seed, and a column for each size."""
    if len(sizes) < 2 or len(regrets) < 2 or not (regrets > 0).all():
        return None
    x = np.log(sizes)
    x = x - x.mean()
    return mean_of(np.log(regrets) @ x / (x @ x))


def as_power(size: str, found: MeanInterval | None) -> str:
    """A fitted power in words: t^0.52 [0.48, 0.56]."""
    return f"{size}^{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]" if found else "no power"
