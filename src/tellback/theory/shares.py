"""Shares of trials, with intervals that hold for any number of trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import AnyArray
from tellback.errors import SettingError

LEVEL = 0.95


@dataclass(frozen=True)
class Share:
    """The share of n trials of which something is true, with an interval."""

    share: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.share:.1%} [{self.low:.1%}, {self.high:.1%}], n = {self.n}"


def share_of(true: AnyArray, level: float = LEVEL) -> Share:
    """The share of trials that are true.

    The interval holds the true share with at least this level, for any n (Clopper and
    Pearson 1934).
    """
    return share_of_counts(int(np.sum(true)), len(true), level)


def share_of_counts(yes: int, n: int, level: float = LEVEL) -> Share:
    """The same of ``yes`` true ones out of ``n``."""
    from scipy.special import betaincinv  # slow to import, and workers do without

    if not n:
        raise SettingError("A share needs at least one run.")
    tail = error_rate(level) / 2
    low = float(betaincinv(yes, n - yes + 1, tail)) if yes else 0.0
    high = float(betaincinv(yes + 1, n - yes, 1 - tail)) if yes < n else 1.0
    return Share(yes / n, low, high, n)


def error_rate(level: float) -> float:
    """How often an interval of this level may miss."""
    if not 0 < level < 1:
        raise SettingError(f"level must be above 0 and below 1, not {level!r}.")
    return 1 - level
