"""Comparisons of agents: paired by seed, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.theory.shares import LEVEL as LEVEL
from tellback.theory.shares import Share as Share
from tellback.theory.shares import error_rate as error_rate
from tellback.theory.shares import share_of as share_of


@dataclass(frozen=True)
class MeanInterval:
    """A mean with its interval, from n runs."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def same(self) -> bool:
        """Whether all runs have the same value: without spread there is no interval."""
        return self.high - self.low <= NO_SPREAD * max(1.0, abs(self.mean))

    def __str__(self) -> str:
        if self.same:
            return f"{self.mean:.3g} (the same in all runs: no interval)"
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}]"


ROUNDING = 1e-6
"""A sum of regrets may be below zero by this much, from rounding."""

FEWEST_PAIRS = 3
"""With two pairs, the spread comes from a single difference, and the interval may be arbitrarily
short. From three on, the coverage of intervals was measured (``less_regret``)."""


NO_SPREAD = 1e-6
"""An interval that is no longer than this comes from rounding alone."""

SAME = "the same in all pairs: no interval"


@dataclass(frozen=True)
class Difference:
    """By which share one agent's regret is below another's; negative if it is above.

    ``low`` and ``high`` bound it, at the level LEVEL unless another was asked for, from n
    pairs of runs that met the same tasks. Fewer than FEWEST_PAIRS decide nothing, nor do pairs
    that all differ by the same share.
    """

    less: float
    low: float
    high: float
    n: int

    @property
    def same(self) -> bool:
        """Whether all pairs differ by the same share: without spread there is no interval."""
        return self.high - self.low <= NO_SPREAD

    @property
    def verdict(self) -> str:
        """'less', 'more', or 'undecided': the interval holds zero, there is none, or few pairs."""
        if self.n < FEWEST_PAIRS or self.same:
            return "undecided"
        if self.low > 0:
            return "less"
        return "more" if self.high < 0 else "undecided"

    def __str__(self) -> str:
        if self.same:
            return f"{self.less:+.1%} ({SAME}), n = {self.n}"
        return f"{self.less:+.1%} [{self.low:+.1%}, {self.high:+.1%}], n = {self.n}"


def mean_regret(regret: Array, level: float = LEVEL, at_most: float = np.inf) -> MeanInterval:
    """The mean of final regrets, with Student's interval, cut to possible regrets.

    Parameters
    ----------
    regret : Array
        Final regrets, two or more.
    level : float
        The confidence level.
    at_most : float
        The largest possible regret: the number of rounds.
    """
    found = mean_of(_possible(regret), level)
    low, high = max(found.low, min(found.mean, 0.0)), min(found.high, max(found.mean, at_most))
    return MeanInterval(found.mean, low, high, found.n)


def mean_of(values: Array, level: float = LEVEL) -> MeanInterval:
    """The mean of any values, with Student's interval."""
    values = _several(values)
    half = _quantile(len(values), level) * values.std(ddof=1) / np.sqrt(len(values))
    mean = values.mean()
    return MeanInterval(float(mean), float(mean - half), float(mean + half), len(values))


def less_regret(ours: Array, theirs: Array, level: float = LEVEL) -> Difference:
    """By which share of their mean regret ours is lower, paired by seed.

    The ratio of two means, with Student's interval for its linearisation: the residuals
    (theirs - ours) - share * theirs have mean zero at the true share. Percentile bootstrap
    intervals would be too short at the usual numbers of seeds.

    How often a 95% interval held the true share, in 4000 simulations of each kind
    (``python -m benchmarks.coverage``, standard error 0.003 to 0.008):

    =====================================  =====  =====  ======  ======  ======
    regrets                                n = 3  n = 5  n = 10  n = 20  n = 40
    =====================================  =====  =====  ======  ======  ======
    gamma, alike for both agents           0.958  0.951  0.954   0.948   0.943
    lognormal(0, 0.3) times a common part  0.938  0.945  0.948   0.953   0.941
    lognormal(0, 0.9) times a common part  0.868  0.869  0.881   0.911   0.915
    one fails utterly in 5% of worlds      0.571  0.291  0.386   0.627   0.858
    =====================================  =====  =====  ======  ======  ======

    In the last kind, no interval can see failures that did not happen on the given seeds. The
    interval ends at 1: no more than all regret can be saved.

    The interval is for one look at a number of seeds that was fixed beforehand. If seeds are
    added until a difference shows, use ``running_less_regret``.

    Parameters
    ----------
    ours, theirs : Array
        Final regrets; entry i of both is from the same seed, hence from the same tasks.
    level : float
        The confidence level. For k comparisons that must hold together, 1 - 0.05 / k.
    """
    ours, theirs = pairs(ours, theirs)
    n, mean = len(ours), theirs.mean()
    share = 1 - ours.mean() / mean
    residuals = (theirs - ours) - share * theirs
    half = _quantile(n, level) * residuals.std(ddof=1) / np.sqrt(n) / mean
    return Difference(float(share), float(share - half), min(float(share + half), 1.0), n)


def pairs(ours: Array, theirs: Array) -> tuple[Array, Array]:
    """Final regrets, checked: the same number of both, and theirs above zero."""
    ours, theirs = _several(_possible(ours)), _several(_possible(theirs))
    if len(ours) != len(theirs):
        raise SettingError(f"Pairs are needed, not {len(ours)} runs against {len(theirs)}.")
    for whose, regrets in (("our", ours), ("their", theirs)):
        if not np.isfinite(regrets).all():
            raise SettingError(
                f"One of {whose} regrets is {regrets[~np.isfinite(regrets)][0]}: "
                "only numbers can be compared."
            )
    if not theirs.mean() > 0:
        raise SettingError("Their mean regret is not above zero: no share of it can be given.")
    return ours, theirs


def _quantile(n: int, level: float) -> float:
    from scipy.special import stdtrit  # slow to import, and workers do not need it

    return float(stdtrit(n - 1, 1 - error_rate(level) / 2))


def _possible(regret: Array) -> Array:
    """Regrets, checked: none below zero, apart from rounding; NaN is allowed."""
    regret = np.asarray(regret, dtype=np.float64)
    if (regret < -ROUNDING).any():
        raise SettingError(f"A regret must not be below zero, and one is {regret.min():g}.")
    return regret


def _several(regret: Array) -> Array:
    regret = np.asarray(regret, dtype=np.float64)
    if regret.ndim != 1 or len(regret) < 2:
        raise SettingError(f"An interval needs at least two runs, not {regret.size}.")
    return regret
