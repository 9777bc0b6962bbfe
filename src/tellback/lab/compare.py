"""Comparisons that a sceptical reader would accept: paired by seed, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from tellback.arrays import Array
from tellback.errors import SettingError

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, from n runs."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True)
class Difference:
    """By which share one agent's regret is below another's; negative if it is above.

    ``low`` and ``high`` bound it at the level LEVEL, from n pairs of runs that met the
    same tasks.
    """

    less: float
    low: float
    high: float
    n: int

    @property
    def verdict(self) -> str:
        """'less', 'more', or 'undecided' where the interval holds zero."""
        if self.low > 0:
            return "less"
        return "more" if self.high < 0 else "undecided"

    def __str__(self) -> str:
        return f"{self.less:+.1%} [{self.low:+.1%}, {self.high:+.1%}], n = {self.n}"


def mean_regret(regret: Array) -> Estimate:
    """The mean of final regrets, with Student's interval."""
    regret = _checked(regret)
    half = _quantile(len(regret)) * regret.std(ddof=1) / np.sqrt(len(regret))
    mean = regret.mean()
    return Estimate(float(mean), float(mean - half), float(mean + half), len(regret))


def less_regret(ours: Array, theirs: Array) -> Difference:
    """By which share of their mean regret ours is lower, paired by seed.

    The ratio of two means, with Student's interval for its linearisation: the residuals
    (theirs - ours) - share * theirs have mean zero at the true share. Percentile bootstrap
    intervals would be too short at the usual numbers of seeds.

    Parameters
    ----------
    ours, theirs : Array
        Final regrets; entry i of both is from the same seed, hence from the same tasks.
    """
    ours, theirs = _checked(ours), _checked(theirs)
    if len(ours) != len(theirs):
        raise SettingError(f"Pairs are needed, not {len(ours)} runs against {len(theirs)}.")
    n, mean = len(ours), theirs.mean()
    if not mean > 0:
        raise SettingError("A share of a regret that is not above zero says nothing.")
    share = 1 - ours.mean() / mean
    residuals = (theirs - ours) - share * theirs
    half = _quantile(n) * residuals.std(ddof=1) / np.sqrt(n) / mean
    return Difference(float(share), float(share - half), float(share + half), n)


def curve_band(curves: Array) -> tuple[Array, Array, Array]:
    """The mean of curves (a row a seed), with Student's interval at each point."""
    mean = curves.mean(axis=0)
    half = _quantile(len(curves)) * curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
    return mean, mean - half, mean + half


def _quantile(n: int) -> float:
    return float(stdtrit(n - 1, 0.5 + LEVEL / 2))


def _checked(regret: Array) -> Array:
    regret = np.asarray(regret, dtype=np.float64)
    if regret.ndim != 1 or len(regret) < 2:
        raise SettingError(f"An interval needs at least two runs, not {regret.size}.")
    return regret
