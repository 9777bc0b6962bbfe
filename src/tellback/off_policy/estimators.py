"""Three estimates of the mean reward that a policy would have had on the tasks of a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, real
from tellback.off_policy.intervals import deviations
from tellback.off_policy.log import Log
from tellback.off_policy.overlap import (
    Overlap,
    chosen_probabilities,
    judged,
    refuse,
    target_probabilities,
)
from tellback.off_policy.policies import Estimates, Policy
from tellback.roles import Instruction, State, Task

LEVEL = 0.95

FEW = 20.0
"""With fewer effective rounds the estimate's note says so."""


class RewardModel(Estimates, Protocol):
    """What a model must be able to do to learn along a log; every ``Model`` can."""

    def learn(self, features: Array, description: Instruction) -> None:
        """Take in that a response with these features was described so."""
        ...

    def state(self) -> State:
        """All that was learned."""
        ...

    def restore(self, state: State) -> None:
        """Go back to such a state."""
        ...


@dataclass(frozen=True)
class ValueEstimate:
    """The mean reward of a policy on the usable tasks of a log.

    Attributes
    ----------
    mean : float
        The estimate itself, which may be outside 0 to 1 where unbiasedness demands it.
    low, high : float
        The ends of the interval, cut to what a mean of probabilities can be.
    n : int
        The rounds that were used.
    effective_n : float
        To how many rounds of the policy's own they amount, about.
    level : float
        How often such intervals hold the truth, if their assumptions do.
    method : str
        Which estimate, and which interval.
    note : str
        What a reader should know before believing it; '' if nothing.
    """

    mean: float
    low: float
    high: float
    n: int
    effective_n: float
    level: float
    method: str
    note: str

    def __str__(self) -> str:
        said = f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}] at {self.level:.0%}"
        counts = f"{self.n} rounds, {self.effective_n:.0f} effective"
        return f"{said}, {counts} ({self.method})" + (f"; {self.note}" if self.note else "")


def inverse_propensity(log: Log, policy: Policy, *, level: float = LEVEL) -> ValueEstimate:
    """The mean of pi(y_t) / p_t 1[x'_t = x_t] (Horvitz and Thompson 1952).

    Unbiased, whatever the agent learned while it logged, if it could choose whatever the policy
    chooses.

    Parameters
    ----------
    log : Log
        What was played. A log without overlap is refused (``demand_overlap``).
    policy : Policy
        Whose reward is asked for; not fitted to these rounds.
    level : float
        How sure the interval is.
    """
    weighed = _Weighed(log, policy, level)
    return weighed.estimate("inverse propensity", weighed.weights * weighed.log.matches)


def self_normalised(log: Log, policy: Policy, *, level: float = LEVEL) -> ValueEstimate:
    """The mean of matches, weighted by pi(y_t) / p_t (Hajek 1971; Swaminathan and Joachims 2015).

    From 0 to 1 always, and mostly closer than ``inverse_propensity`` where weights vary much;
    biased by something of the order of 1 / n. The interval is that of the linearised ratio,
    each residual enlarged as if its round had been left out (a jackknife).

    Parameters
    ----------
    log, policy, level
        As for ``inverse_propensity``.
    """
    weighed = _Weighed(log, policy, level)
    weights, matches = weighed.weights, weighed.log.matches
    total = weights.sum()  # about n, else the log was refused
    mean = float(weights @ matches / total)
    left = np.maximum(1 - weights / total, 1 / len(weights))
    shares = weights / weights.mean() / left
    terms = mean + shares * (matches - mean)
    return weighed.estimate("self-normalised", terms, shares, mean)


def doubly_robust(
    log: Log,
    policy: Policy,
    model: Estimates | RewardModel,
    *,
    learn: bool = False,
    level: float = LEVEL,
) -> ValueEstimate:
    """What a model says of the policy, corrected by inverse propensity (Dudik et al. 2014).

    The mean of sum_y pi(y) q(y) + pi(y_t) / p_t (1[x'_t = x_t] - q(y_t)), q being the model's
    estimate of the reward. Unbiased whatever the model, as long as the model of a round has
    not learned from that round or a later one; the better the model, the shorter the
    interval. Much is gained only where rewards are not small: a perfect model still leaves
    the variance r (1 - r) of the match itself.

    Parameters
    ----------
    log, policy, level
        As for ``inverse_propensity``.
    model : Model
        Its ``estimates(instruction, responses)`` are q.
    learn : bool
        False takes the model as it stands: it must have been fitted to other rounds. True lets
        it learn along the log, each round judged by what was learned from those before it, so
        that all rounds are used and none twice; afterwards it is put back as it was.
    """
    weighed = _Weighed(log, policy, level)
    tasks = weighed.log.tasks
    predicted = (
        _learned_along(model, weighed.log) if learn else [_estimates(model, task) for task in tasks]
    )
    pairs = zip(weighed.probabilities, predicted, strict=True)
    expected = np.array([shares @ q for shares, q in pairs])
    chosen = np.array([q[y] for q, y in zip(predicted, weighed.log.responses, strict=True)])
    terms = expected + weighed.weights * (weighed.log.matches - chosen)
    return weighed.estimate("doubly robust", terms)


class _Weighed:
    """The usable rounds of a log with their weights, which have been found to overlap."""

    def __init__(self, log: Log, policy: Policy, level: float) -> None:
        self.level = real("level", level, above=0)
        if not level < 1:
            raise SettingError(f"level must be below 1, not {level!r}.")
        self.log = log.usable
        self.probabilities = target_probabilities(self.log, policy)
        chosen = chosen_probabilities(self.log, self.probabilities)
        self.overlap: Overlap = judged(self.log, chosen)
        refuse(self.overlap, policy)
        self.weights: Array = chosen / self.log.propensities

    def estimate(
        self, name: str, terms: Array, shares: Array | None = None, mean: float | None = None
    ) -> ValueEstimate:
        """The mean of the terms with its interval; ``shares`` is what a match adds to one."""
        shares = self.weights if shares is None else shares
        below, above, kind = deviations(terms, shares, self.log.matches, self.level)
        mean = float(terms.mean()) if mean is None else mean
        few = self.overlap.effective_n
        return ValueEstimate(
            mean=mean,
            low=min(max(mean - below, 0.0), 1.0),
            high=min(max(mean + above, 0.0), 1.0),
            n=self.overlap.n,
            effective_n=few,
            level=self.level,
            method=f"{name}, {kind}",
            note=f"only {few:.1f} rounds are effective" if few < FEW else "",
        )


def _learned_along(model: Estimates, usable: Log) -> list[Array]:
    """The estimates for every round by a model that has learned from the rounds before it."""
    lacking = [name for name in ("learn", "state", "restore") if not hasattr(model, name)]
    if lacking:
        raise SettingError(f"{model!r} cannot learn along a log: it has no {', '.join(lacking)}.")
    learner: RewardModel = model  # type: ignore[assignment]
    before = learner.state()
    predicted = []
    try:
        rounds = zip(usable.tasks, usable.responses.tolist(), usable.descriptions, strict=True)
        for task, response, description in rounds:
            predicted.append(_estimates(learner, task))
            assert description is not None  # the round is usable
            learner.learn(task.responses.features(response), description)
    finally:
        learner.restore(before)
    return predicted


def _estimates(model: Estimates, task: Task) -> Array:
    estimates = np.array(model.estimates(task.instruction, task.responses), dtype=np.float64)
    if estimates.shape != (len(task.responses),) or not np.isfinite(estimates).all():
        raise SettingError(
            f"The estimates of {type(model).__name__} for instruction {task.instruction!r} must "
            f"be {len(task.responses)} finite numbers, not {estimates}."
        )
    return estimates
