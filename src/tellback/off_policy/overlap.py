"""Overlap: the log must have had a chance to do what the policy does.

Only the propensity of the response that was chosen is logged, so what the log could not have
chosen has to be inferred. Two things show it. Where a response was chosen with probability 1
no other could have been: what the policy would have done instead is lost for certain. And the
weights pi(y_t) / p_t have, given the past, exactly the mean that is the policy's probability of
the responses that the log could have chosen: 1 if they are all of those it wants. A mean
weight that is not 1, by more than chance explains, refutes the log or its propensities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellback.arrays import Array
from tellback.errors import SettingError, TellbackError
from tellback.off_policy.kinds import are_shares
from tellback.off_policy.log import Log
from tellback.off_policy.policies import Policy

DEVIATIONS = 4.0
"""How many standard errors the mean weight may be from 1."""

ROUNDING = 1e-6
"""By how much probabilities may miss their sum, and a policy may want what was impossible."""


class OverlapError(TellbackError):
    """A log that cannot speak for a policy, with the reason."""


@dataclass(frozen=True)
class Overlap:
    """How well a log speaks for a policy.

    Attributes
    ----------
    n : int
        The usable rounds.
    effective_n : float
        (sum of w)^2 / sum of w^2: about so many rounds of the policy's own are as good.
    largest_weight : float
        What the weightiest round counts.
    mean_weight, error : float
        An estimate, with its standard error, of the share of the policy's probability that is
        on responses that the log could have chosen. 1 where there is overlap.
    lost : float
        The share of the policy's probability that is for certain on responses that the log
        could not have chosen, because another was chosen with probability 1.
    """

    n: int
    effective_n: float
    largest_weight: float
    mean_weight: float
    error: float
    lost: float

    @property
    def has_mean_1(self) -> bool:
        """Whether chance explains that the mean weight is not 1."""
        return abs(self.mean_weight - 1) <= DEVIATIONS * self.error + ROUNDING

    def __str__(self) -> str:
        return (
            f"{self.effective_n:.0f} of {self.n} rounds effective, largest weight "
            f"{self.largest_weight:.3g}, mean weight {self.mean_weight:.3f} +- {self.error:.3f}"
        )


def overlap(log: Log, policy: Policy) -> Overlap:
    """How well the usable rounds of a log speak for a policy, for better or worse.

    Parameters
    ----------
    log : Log
        What was played.
    policy : Policy
        Whose reward is asked for.
    """
    usable = log.usable
    chosen = chosen_probabilities(usable, target_probabilities(usable, policy))
    return judged(usable, chosen)


def demand_overlap(log: Log, policy: Policy) -> Overlap:
    """The same, but a log that cannot speak for the policy is refused with the reason."""
    found = overlap(log, policy)
    refuse(found, policy)
    return found


def target_probabilities(usable: Log, policy: Policy) -> list[Array]:
    """What the policy would have done in every round, checked."""
    if not isinstance(policy, Policy):
        raise SettingError(
            f"policy must have probabilities(task), not {policy!r}: "
            "AgentPolicy(agent) makes one of an agent, Greedily(model) of a model."
        )
    found = [np.asarray(policy.probabilities(task), dtype=np.float64) for task in usable.tasks]
    for shares, task in zip(found, usable.tasks, strict=True):
        if shares.shape != (len(task.responses),):
            raise SettingError(
                f"{policy!r} gave probabilities of shape {shares.shape} for "
                f"{len(task.responses)} responses."
            )
    _demand_distributions(found, policy)
    return found


def chosen_probabilities(usable: Log, probabilities: list[Array]) -> Array:
    """Of the responses that were chosen, how probable each is under the policy."""
    pairs = zip(probabilities, usable.responses, strict=True)
    return np.array([shares[y] for shares, y in pairs], dtype=np.float64)


def judged(usable: Log, chosen: Array) -> Overlap:
    """What the weights say."""
    n = len(usable)
    if n < 2:
        raise OverlapError(
            f"The log has {n} usable rounds, and at least 2 are needed: rounds without a "
            "description, or whose teacher saw the request, say nothing of the reward."
        )
    unknown = int(np.isnan(usable.propensities).sum())
    if unknown:
        raise OverlapError(
            f"In {unknown} of {n} rounds the agent stated no propensity, so nothing can be said "
            "of any other policy: log with an agent that states how probable its choice was "
            "(Choice.propensity), such as Uniform() or EpsilonGreedy(epsilon=0.3)."
        )
    weights = chosen / usable.propensities
    return overlap_of(weights, float(np.mean(certain(usable) * (1 - chosen))))


def overlap_of(weights: Array, lost: float) -> Overlap:
    """The overlap that two weights or more show; ``lost`` as in ``Overlap``."""
    n = len(weights)
    return Overlap(
        n=n,
        effective_n=effective(weights),
        largest_weight=float(weights.max()),
        mean_weight=float(weights.mean()),
        error=float(weights.std(ddof=1) / np.sqrt(n)),
        lost=lost,
    )


def certain(log: Log) -> NDArray[np.bool_]:
    """In which rounds nothing else could have been chosen."""
    certainly: NDArray[np.bool_] = (log.propensities == 1) & (not are_shares(log.kind))
    return certainly


def refuse(found: Overlap, policy: Policy) -> None:
    """An error if the log cannot speak for the policy."""
    if found.lost > ROUNDING:
        raise OverlapError(
            f"{policy!r} would do something else with probability {found.lost:.3g} on average in "
            "rounds where the log's response was certain (propensity 1), and of that the log "
            "says nothing. Explorers that leave nothing to chance (LORIL; Greedy, but for ties) "
            "log nothing that another agent could be judged by: log with Uniform() or "
            "EpsilonGreedy(epsilon=0.3), or leave those rounds out: log[log.propensities < 1]."
        )
    if not found.has_mean_1:
        raise OverlapError(
            f"The importance weights of {policy!r} have mean {found.mean_weight:.3f} +- "
            f"{found.error:.3f} over {found.n} rounds, and should have mean 1: "
            + (
                "the policy wants responses that the log had no chance, or too little, to choose."
                if found.mean_weight < 1
                else "the propensities that were logged are not those that were used."
            )
        )


def effective(values: Array) -> float:
    """(sum)^2 / sum of squares: how many equal values would be as many; 0 if all are 0."""
    squares = float(values @ values)
    return float(values.sum()) ** 2 / squares if squares else 0.0


def _demand_distributions(found: list[Array], policy: Policy) -> None:
    if not found:
        return
    starts = np.cumsum([0, *map(len, found[:-1])])
    everything = np.concatenate(found)
    lowest, sums = np.minimum.reduceat(everything, starts), np.add.reduceat(everything, starts)
    right = (lowest >= 0) & (np.abs(sums - 1) <= ROUNDING)  # NaN is not
    if not right.all():
        raise SettingError(
            f"{policy!r} gave probabilities that are not from 0 to 1 with sum 1: "
            f"{found[int(np.argmin(right))]}."
        )
