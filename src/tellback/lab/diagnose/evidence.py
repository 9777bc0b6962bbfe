"""The numbers by which rules decide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array
from tellback.lab.compare import MeanInterval, mean_of
from tellback.lab.diagnose.bonuses import too_wide
from tellback.lab.diagnose.fit import Fit, fit
from tellback.lab.diagnose.linear import unexplained
from tellback.lab.diagnose.readings import Mask, Readings
from tellback.lab.diagnose.reference_models import Forecasts, forecasts
from tellback.ties import TOLERANCE

BLOCKS = 20
"""Rounds are averaged in this many blocks, which are independent enough for an interval."""

FEWEST_BLOCKS, SMALLEST_BLOCK = 4, 5

NAN = float("nan")
UNKNOWN = MeanInterval(NAN, NAN, NAN, 0)
"""Every comparison with it is false, so that no rule rests on an unknown number."""


@dataclass(frozen=True)
class Evidence:
    """All measurements. Late is the second half of the run; NaN is unknown."""

    rounds: int
    described: int
    looked: int  # rounds with the true rewards of all responses
    late: float  # late regret a round
    uniform: float  # the same of random play
    slope: MeanInterval  # of log regret over log rounds, late
    # The share of late regret paid for responses with the highest estimate, for others because of
    # their bonus, and for others without a bonus.
    by_estimate: float
    by_bonus: float
    by_chance: float
    saved: MeanInterval  # the share that the response with the highest estimate would save
    tied: float  # the share of late rounds in which responses tied
    first: float  # of those, the share in which the first was taken
    tied_regret: float  # the share of late regret in tied rounds
    # The share of late regret in rounds where the reward of the best response lay above its
    # estimate plus bonus.
    unforeseen: float
    fit: Fit  # how far the model is from the best of its class
    # These are in nats a description.
    short: MeanInterval  # by which the truth predicts better than the model, in the last quarter
    knowable: MeanInterval  # by which the truth predicts better than frequencies
    known: MeanInterval  # by which the model does
    # By which the model's own class, taught and fitted well, predicts better. Both are hedged
    # lightly: frequencies would hide that a model is wrong.
    behind: MeanInterval
    poorer: MeanInterval  # by which a richer class predicts better than that class, or the model
    richer_name: str
    unexplained: float  # the share of the truth that no model of the class can represent
    too_wide: float  # the share of late descriptions whose response had an impossibly large bonus
    language: bool

    @property
    def late_share(self) -> float:
        """Late regret as a share of random play's in the same rounds."""
        return self.late / self.uniform if self.uniform > 0 else NAN

    @property
    def has_reference(self) -> bool:
        """Whether a model of the agent's class could be taught beside it."""
        return self.behind.n > 0


def measure(read: Readings) -> Evidence:
    """The evidence that readings give."""
    late = np.arange(len(read)) >= len(read) // 2
    regrets, bests = read.regrets, read.bests
    chosen = late & np.isfinite(read.greedy)
    others = read.greedy == 0
    tied = np.where(np.isfinite(read.tied), (read.tied > 1).astype(float), np.nan)
    looked = np.isfinite(read.best_uppers)
    underrated = looked & ~(bests <= read.best_uppers * (1 + TOLERANCE))
    forecast = forecasts(read)
    late_mean = _mean(regrets[late])
    return Evidence(
        rounds=len(read),
        described=len(read.examples),
        looked=int(np.isfinite(read.uniform_rewards).sum()),
        late=late_mean,
        uniform=_mean((bests - read.uniform_rewards)[late]),
        slope=_slope(regrets),
        by_estimate=_part(regrets, read.greedy == 1, chosen),
        by_bonus=_part(regrets, others & (read.bonuses > 0), chosen),
        by_chance=_part(regrets, others & ~(read.bonuses > 0), chosen),
        saved=_scaled(blocked((read.greedy_rewards - read.rewards)[late]), late_mean),
        tied=_mean(tied[late]),
        first=_mean(np.where(tied == 1, read.first, np.nan)[late]),
        tied_regret=_part(regrets, tied == 1, late & np.isfinite(tied)),
        unforeseen=_part(regrets, underrated, late & looked),
        fit=fit(read),
        richer_name=forecast.richer_name,
        unexplained=unexplained(read),
        too_wide=too_wide(read),
        language=read.facts.language,
        **_compared(forecast, len(read)),
    )


def blocked(values: Array) -> MeanInterval:
    """The mean of values in time order, with an interval from the means of blocks of them."""
    values = values[np.isfinite(values)]
    blocks = min(BLOCKS, len(values) // SMALLEST_BLOCK)
    if blocks < FEWEST_BLOCKS:
        return UNKNOWN
    return mean_of(np.array([part.mean() for part in np.array_split(values, blocks)]))


def _compared(seen: Forecasts, total: int) -> dict[str, MeanInterval]:
    """By how many nats one forecast loses more than another, in parts of the run."""
    late, last = seen.t >= total // 2, seen.t >= total - total // 4

    def loses(worse: Array | None, better: Array | None, when: Mask) -> MeanInterval:
        if worse is None or better is None:
            return UNKNOWN
        return blocked(np.log(better[when]) - np.log(worse[when]))

    base = seen.own if seen.reference is None else seen.reference
    return {
        "short": loses(seen.own, seen.truth, last),
        "knowable": loses(seen.nothing, seen.truth, late),
        "known": loses(seen.nothing, seen.own, late),
        "behind": loses(seen.own_lightly, seen.reference_lightly, late),
        "poorer": loses(base, seen.richer, late),
    }


def _slope(regrets: Array) -> MeanInterval:
    """The slope of log cumulative regret over log t, block by block over the second half."""
    total = len(regrets)
    blocks = min(BLOCKS, total // 2 // SMALLEST_BLOCK)
    reached = np.cumsum(regrets)
    if blocks < FEWEST_BLOCKS or not reached[total // 2 - 1] > 0:
        return UNKNOWN
    edges = np.linspace(total // 2, total, blocks + 1).astype(int)
    steps = np.diff(np.log(reached[edges - 1])) / np.diff(np.log(edges))
    return mean_of(steps)


def _scaled(found: MeanInterval, by: float) -> MeanInterval:
    if not by > 0:
        return UNKNOWN
    return MeanInterval(found.mean / by, found.low / by, found.high / by, found.n)


def _part(regrets: Array, which: Mask, among: Mask) -> float:
    """The share of the regret of the rounds ``among`` that falls on ``which`` of them."""
    total = regrets[among].sum()
    return float(regrets[among & which].sum() / total) if total > 0 else NAN


def _mean(values: Array) -> float:
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else NAN
