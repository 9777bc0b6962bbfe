"""The power of t with which regret grows."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices
from tellback.lab.compare import Estimate, mean_regret

FITTED_FROM = 0.1
"""The share of a run that is left out: its beginning is not yet a power of t."""


def growth(t: Indices, curves: Array) -> Estimate | None:
    """The slope of log regret against log t, fitted to each curve: its mean and interval.

    Parameters
    ----------
    t : Indices
        The rounds.
    curves : Array
        Cumulative regret, a row a seed.

    Returns
    -------
    Estimate or None
        None where regret is zero somewhere in the fitted stretch, or one seed is all.
    """
    late = t >= FITTED_FROM * t[-1]
    if late.sum() < 2 or len(curves) < 2 or not (curves[:, late] > 0).all():
        return None
    x = np.log(t[late])
    x = x - x.mean()
    slopes = np.log(curves[:, late]) @ x / (x @ x)
    return mean_regret(slopes)
