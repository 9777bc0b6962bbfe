"""The report of apprentice mode says what it can, and why not more."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.classroom.learning.apprentice import Switch, judged_by_people, report
from tellback.classroom.store.acted import ActedRound

REWARDS = (0.2, 0.7)


def acted(
    rounds: int, share: float, advised: int = 1, known: bool = True, seed: int = 0
) -> list[ActedRound]:
    """Rounds of a policy that does 1 in a share of them, beside an agent that advises one thing."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(1, rounds + 1):
        response = int(rng.random() < share)
        met = bool(rng.random() < REWARDS[response])
        propensity = (1 - share, share)[response] if known else None
        found.append(ActedRound(number, number, met, response, propensity, advised))
    return found


def test_a_better_agent_is_to_act_and_a_worse_one_is_not() -> None:
    rounds = acted(600, 0.5)
    better = report(rounds)
    assert better.verdict is Switch.SWITCH
    assert better.agent is not None
    agreed = [one.matched for one in rounds if one.response == 1]  # all have the same weight
    assert better.agent.mean == pytest.approx(agreed.count(True) / len(agreed))
    assert better.agent.low < REWARDS[1] < better.agent.high
    assert "Estimated from the propensities" in better.says
    worse = report(acted(600, 0.5, advised=0))
    assert worse.verdict is Switch.STAY
    assert report(acted(30, 0.5)).verdict is Switch.UNDECIDED


@pytest.mark.parametrize("known", [True, False])
def test_without_chance_or_propensities_there_are_bounds_and_no_estimate(known: bool) -> None:
    rounds = [
        one._replace(propensity=1.0 if known else None) for one in acted(600, 0.97, known=known)
    ]
    found = report(rounds)
    assert found.verdict is Switch.UNDECIDED
    assert found.agent is not None
    assert found.agent.mean is None
    assert ("left nothing to chance" if known else "is not known") in found.says
    assert "only rounds in which the agent agreed" in found.says
    # Nearly always they do the same: who accepts a small loss may switch.
    assert report(rounds, margin=0.1).verdict is Switch.SWITCH


def test_wrong_propensities_are_noticed() -> None:
    wrong = [one._replace(propensity=0.5) for one in acted(400, 0.1)]
    assert "Weights have mean" in report(wrong).says


def test_nothing_is_said_of_rounds_without_a_verdict() -> None:
    found = report([one._replace(matched=None, described=None) for one in acted(9, 0.5)])
    assert (found.rounds, found.judged, found.agent, found.gain) == (9, 0, None, None)
    assert found.agreement is not None
    assert report([]).agreement is None


def test_people_are_believed_on_the_rounds_that_chance_picked_up_to_a_gap() -> None:
    rounds = acted(8, 0.5)
    picked = {1, 3, 5, 7}
    judged = {1: True, 2: True, 3: None, 7: False}  # 2 was not picked, 5 is missing
    found = judged_by_people(rounds, judged, lambda number: 0.1 if number in picked else 0.9)
    assert [one.matched for one in found] == [True] + [None] * 7
    found = judged_by_people(
        rounds, judged | {5: False}, lambda number: 0.1 if number in picked else 0.9
    )
    assert [one.number for one in found if one.matched is not None] == [1, 5, 7]
