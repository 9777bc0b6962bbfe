"""Apprentice mode: another policy acts, the agent advises, and a report says when to switch.

What was done is decided without the advice. So the advice is a draw of the agent's own, and a round
counts 1 / p times where the two agree and p is the probability of what was done: an importance
weight, right on average although the agent learns meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.classroom.learning.progress import running
from tellback.classroom.learning.verdicts import ASKED_OF_PEOPLE
from tellback.classroom.store.acted import ActedRound
from tellback.off_policy.overlap import overlap_of
from tellback.off_policy.running import running_gain, running_value
from tellback.theory.shares import Share

FEWEST = 2
"""Rounds with a verdict that bounds need."""


class Switch(StrEnum):
    """Whether the agent should act."""

    SWITCH = "switch"
    STAY = "stay"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Rate:
    """Bounds on the agent's share of requests met; ``mean`` is None if bounds are all there is."""

    mean: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Gain:
    """Bounds on the agent's share of requests met minus that of the policy that acts."""

    low: float
    high: float


class ApprenticeReport(NamedTuple):
    """The agent beside the policy that acts. All bounds that were ever shown hold together."""

    rounds: int
    judged: int
    agreement: Share | None
    acting: Share | None
    agent: Rate | None
    gain: Gain | None
    verdict: Switch
    says: str


def report(rounds: Sequence[ActedRound], margin: float = 0.0) -> ApprenticeReport:
    """Compare the agent with the policy that acted.

    Parameters
    ----------
    rounds : sequence of ActedRound
        In the order of their descriptions.
    margin : float
        The loss that is accepted: switch once the agent meets at most this share less.
    """
    agreement = running([one.advised == one.response for one in sorted(rounds, key=_number)])
    judged = [one for one in rounds if one.matched is not None]
    matches = np.array([one.matched for one in judged], dtype=np.float64)
    acting = running(matches)
    if len(judged) < FEWEST:
        says = f"Nothing can be said before {FEWEST} of these rounds have a verdict."
        return ApprenticeReport(
            len(rounds), len(judged), agreement, acting, None, None, Switch.UNDECIDED, says
        )
    weights = np.array([_weight(one) for one in judged])
    lacks = _lack(judged, weights)
    mean = None if lacks else float(weights @ matches / weights.sum())
    agent = Rate(mean, *running_value(weights, matches))
    gain = Gain(*running_gain(weights, matches))
    verdict = Switch.UNDECIDED
    if gain.low > -margin:
        verdict = Switch.SWITCH
    elif gain.high < -margin:
        verdict = Switch.STAY
    says = f"{_SAYS[verdict]} {_gain_words(gain)}. {lacks or _BY_PROPENSITIES}"
    return ApprenticeReport(len(rounds), len(judged), agreement, acting, agent, gain, verdict, says)


def judged_by_people(
    rounds: Sequence[ActedRound],
    judgements: Mapping[int, bool | None],
    priority: Callable[[int], float],
) -> list[ActedRound]:
    """The rounds with the verdicts of people, where these are a random part.

    Of each described round chance says whether its teacher is asked. The rounds of which they were
    asked count up to the first one without an answer. Others may have been picked.
    """
    found, complete = [], True
    for one in rounds:
        asked = one.described is not None and priority(one.number) < ASKED_OF_PEOPLE
        complete &= not asked or one.number in judgements
        met = judgements.get(one.number) if asked and complete else None
        found.append(one._replace(matched=met))
    return found


def _number(one: ActedRound) -> int:
    return one.number


def _weight(one: ActedRound) -> float:
    # An unknown probability counts as 1, which can only lower the weight.
    return (one.advised == one.response) / (one.propensity or 1.0)


_SAYS = {
    Switch.SWITCH: "Switch: let the agent act.",
    Switch.STAY: "Do not switch.",
    Switch.UNDECIDED: "Not decided.",
}
_BY_PROPENSITIES = "Estimated from the propensities of what was done."
_AGREED = "So only rounds in which the agent agreed tell, and there are bounds only."


def _gain_words(gain: Gain) -> str:
    return (
        "If the agent had acted, the share of requests met would have been between "
        f"{_points(gain.low)} and {_points(gain.high)}"
    )


def _points(end: float) -> str:
    return f"{abs(end) * 100:.1f} points {'higher' if end > 0 else 'lower'}"


def _lack(judged: Sequence[ActedRound], weights: Array) -> str:
    """Why the agent's share cannot be estimated; '' if it can."""
    n = len(judged)
    unknown = sum(one.propensity is None for one in judged)
    if unknown:
        return f"In {unknown} of {n} rounds the propensity of what was done is not known. {_AGREED}"
    lost = sum(one.propensity == 1 and one.advised != one.response for one in judged)
    if lost:
        return (
            f"In {lost} of {n} rounds what was done left nothing to chance, and the agent advised "
            f"something else. {_AGREED}"
        )
    found = overlap_of(weights, 0.0)
    if not found.has_mean_1:
        return (
            f"Weights have mean {found.mean_weight:.3f} +- {found.error:.3f} and should have mean "
            f"1: propensities are wrong, or what the agent advises is never done. {_AGREED}"
        )
    return ""
