"""The numbers by which rules decide and of which findings speak."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array
from tellback.lab.compare import Estimate, mean_of
from tellback.lab.diagnose.bonuses import too_wide
from tellback.lab.diagnose.fit import NAN, Fit, fit
from tellback.lab.diagnose.linear import unexplained
from tellback.lab.diagnose.readings import Mask, Readings, under
from tellback.lab.diagnose.rivals import Forecasts, forecasts

BLOCKS = 20
"""Rounds are averaged in so many blocks, which are independent enough for an interval."""

FEWEST_BLOCKS, SMALLEST_BLOCK = 4, 5

UNKNOWN = Estimate(NAN, NAN, NAN, 0)
"""No comparison with it holds, so that no rule rests on what is not known."""


@dataclass(frozen=True)
class Share:
    """A share in the first half of the run and in the second."""

    early: float
    late: float


@dataclass(frozen=True)
class Driven:
    """The share of late rounds in which something drove the choice, and of late regret."""

    rounds: float
    regret: float


@dataclass(frozen=True)
class Evidence:
    """What was measured. Early and late are the halves of the run; NaN is unknown.

    Attributes
    ----------
    rounds, described, looked : int
        How many rounds there were, were described, and were looked at with all responses.
    early, late, uniform : float
        Regret a round early and late, and late by playing at random.
    slope : Estimate
        The slope of log regret over log rounds in the second half.
    greedy, bonus, chance : Driven
        Choices of the response with the highest estimate, of another because of its bonus,
        and of another without one.
    saved : Estimate
        The share of late regret that the response with the highest estimate would save.
    tied, first : Share
        Rounds in which responses tied; of those, rounds in which the first was taken.
    tied_regret : float
        The share of late regret in tied rounds.
    chosen, best, every : Share
        How often the truth lay under estimate plus bonus: of the chosen response, of the
        best, and over all responses.
    unforeseen : float
        The share of late regret in rounds where it did not for the best response.
    fit : Fit
        How far the model is from the best of its class.
    short_first, short_last : Estimate
        By how many nats a description its predictions fell short of the truth's, in the
        first and in the last quarter.
    knowable, known : Estimate
        How many nats a description the truth, and the model, foresee beyond frequencies.
    behind : Estimate
        By how many the model falls short of its own class, taught and fitted well; both
        hedged but lightly, because frequencies would hide that a model is wrong.
    poorer : Estimate
        By how many that class (or else the model) falls short of a richer one.
    richer_name : str
        Which.
    unexplained : float
        The share of the truth that no model of the class can represent.
    too_wide : float
        The share of late descriptions whose response had an impossibly large bonus.
    language : bool
        Whether instructions are sentences.
    """

    rounds: int
    described: int
    looked: int
    early: float
    late: float
    uniform: float
    slope: Estimate
    greedy: Driven
    bonus: Driven
    chance: Driven
    saved: Estimate
    tied: Share
    first: Share
    tied_regret: float
    chosen: Share
    best: Share
    every: Share
    unforeseen: float
    fit: Fit
    short_first: Estimate
    short_last: Estimate
    knowable: Estimate
    known: Estimate
    behind: Estimate
    poorer: Estimate
    richer_name: str
    unexplained: float
    too_wide: float
    language: bool

    @property
    def late_share(self) -> float:
        """Late regret, of what playing at random would pay in the same rounds."""
        return self.late / self.uniform if self.uniform > 0 else NAN

    @property
    def has_reference(self) -> bool:
        """Whether the agent's class of models could be tried apart from the agent."""
        return self.behind.n > 0


def measure(read: Readings) -> Evidence:
    """All of it."""
    late = np.arange(len(read)) >= len(read) // 2
    regrets, bests = read.regrets, read.bests
    known = np.isfinite(read.greedy)
    by_bonus = (read.greedy == 0) & (read.bonuses > 0)
    by_chance = (read.greedy == 0) & ~(read.bonuses > 0)
    tied = np.where(np.isfinite(read.tied), (read.tied > 1).astype(float), np.nan)
    uppers = read.estimates + read.bonuses
    looked = np.isfinite(read.best_uppers)
    pessimistic = looked & ~under(bests, read.best_uppers)
    forecast = forecasts(read)
    late_mean = _mean(regrets[late])
    return Evidence(
        rounds=len(read),
        described=len(read.lessons),
        looked=int(np.isfinite(read.uniform_rewards).sum()),
        early=_mean(regrets[~late]),
        late=late_mean,
        uniform=_mean((bests - read.uniform_rewards)[late]),
        slope=_slope(regrets),
        greedy=_driven(read.greedy == 1, known & late, regrets),
        bonus=_driven(by_bonus, known & late, regrets),
        chance=_driven(by_chance, known & late, regrets),
        saved=_scaled(blocked((read.greedy_rewards - read.rewards)[late]), late_mean),
        tied=_halves(tied, late),
        first=_halves(np.where(tied == 1, read.first, np.nan), late),
        tied_regret=_part(regrets, tied == 1, late & np.isfinite(tied)),
        chosen=_halves(np.where(np.isfinite(uppers), under(read.rewards, uppers), np.nan), late),
        best=_halves(np.where(looked, ~pessimistic, np.nan), late),
        every=_halves(read.covered, late),
        unforeseen=_part(regrets, pessimistic, late & looked),
        fit=fit(read),
        richer_name=forecast.richer_name,
        unexplained=unexplained(read),
        too_wide=too_wide(read),
        language=read.facts.language,
        **_compared(forecast, len(read)),
    )


def blocked(values: Array) -> Estimate:
    """The mean of values in time order, with an interval from the means of blocks of them."""
    values = values[np.isfinite(values)]
    blocks = min(BLOCKS, len(values) // SMALLEST_BLOCK)
    if blocks < FEWEST_BLOCKS:
        return UNKNOWN
    return mean_of(np.array([part.mean() for part in np.array_split(values, blocks)]))


def _compared(seen: Forecasts, total: int) -> dict[str, Estimate]:
    """By how many nats one forecast loses more than another, in parts of the run."""
    late = seen.t >= total // 2
    first, last = seen.t < total // 4, seen.t >= total - total // 4

    def loses(worse: Array | None, better: Array | None, when: Mask) -> Estimate:
        if worse is None or better is None:
            return UNKNOWN
        return blocked(np.log(better[when]) - np.log(worse[when]))

    base = seen.own if seen.reference is None else seen.reference
    return {
        "short_first": loses(seen.own, seen.truth, first),
        "short_last": loses(seen.own, seen.truth, last),
        "knowable": loses(seen.nothing, seen.truth, late),
        "known": loses(seen.nothing, seen.own, late),
        "behind": loses(seen.own_lightly, seen.reference_lightly, late),
        "poorer": loses(base, seen.richer, late),
    }


def _slope(regrets: Array) -> Estimate:
    """Of log cumulative regret over log t, block by block over the second half."""
    total = len(regrets)
    blocks = min(BLOCKS, total // 2 // SMALLEST_BLOCK)
    reached = np.cumsum(regrets)
    if blocks < FEWEST_BLOCKS or not reached[total // 2 - 1] > 0:
        return UNKNOWN
    edges = np.linspace(total // 2, total, blocks + 1).astype(int)
    steps = np.diff(np.log(reached[edges - 1])) / np.diff(np.log(edges))
    return mean_of(steps)


def _scaled(estimate: Estimate, by: float) -> Estimate:
    if not by > 0:
        return UNKNOWN
    return Estimate(estimate.mean / by, estimate.low / by, estimate.high / by, estimate.n)


def _driven(which: Mask, among: Mask, regrets: Array) -> Driven:
    """The share of rounds, and of their regret."""
    return Driven(_mean(which[among].astype(float)), _part(regrets, which, among))


def _part(regrets: Array, which: Mask, among: Mask) -> float:
    """The share of the regret of some rounds that falls on those among them."""
    total = regrets[among].sum()
    return float(regrets[among & which].sum() / total) if total > 0 else NAN


def _halves(values: Array, late: Mask) -> Share:
    return Share(_mean(values[~late]), _mean(values[late]))


def _mean(values: Array) -> float:
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else NAN
