"""An adversary asks for what cost the agent most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tellback import Task, play, rounds
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.errors import SettingError
from tellback.roles import Exchange, Instruction, WorldSpec
from tellback.specs import spec_from_data
from tellback.streams import Stream
from tellback.worlds import Adversarial, Demonstrations, Hard, Synthetic
from tests.support.theory_worlds import SMALL, begun, costs_by_hand


@pytest.mark.parametrize("agent", [Uniform(), LORIL(), EpsilonGreedy(epsilon=0.5)], ids=repr)
@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_an_adversary_asks_for_all_once_and_then_for_what_cost_most(
    agent: AgentSpec, contexts: int | str
) -> None:
    run = play(Adversarial(SMALL.with_settings({"contexts": contexts})), agent, 150, seed=4)
    assert sorted(run.instructions[:5]) == list(range(5))
    for t in range(5, 150):
        costs = costs_by_hand(run, t, 5)
        assert costs[run.instructions[t]] == costs.max()
    assert len(set(run.instructions[5:])) > 1


def test_an_adversary_may_pick_contexts_too() -> None:
    """Every pair comes once before any comes again, and then the pair that cost most."""
    spec = Adversarial(SMALL.with_settings({"contexts": 3}), picks="both")
    game = list(islice(rounds(spec, EpsilonGreedy(epsilon=0.5), seed=4), 120))
    pairs = [(r.task.context, r.task.instruction) for r in game]
    costs: dict[Any, float] = {}
    for pair, one in zip(pairs, game, strict=True):
        if pair in costs:
            untried = {(s, x) for s, _ in costs for x in range(5)} - set(costs)
            assert not untried
            assert costs[pair] == max(costs.values())
        costs[pair] = one.regret
    assert len(costs) == 15
    assert len(set(pairs[40:])) > 1


def test_picking_contexts_too_costs_more_than_picking_instructions() -> None:
    world = Synthetic(instructions=5, responses=5, rank=3, temperature=0.4, contexts=5, seed=1)
    alone, both = (
        np.mean([play(one, LORIL(), 300, seed=s).regret[-1] for s in range(4)])
        for one in (Adversarial(world), Adversarial(world, picks="both"))
    )
    assert both > alone


def test_contexts_that_never_come_again_cannot_be_picked() -> None:
    spec = Adversarial(SMALL.with_settings({"contexts": "fresh"}), picks="both")
    with pytest.raises(SettingError, match=r"ndarray: use picks='instructions'"):
        play(spec, Uniform(), 1)


def test_an_adversary_of_instructions_keeps_its_identity() -> None:
    assert "picks" not in Adversarial(SMALL).to_data()
    for spec in (Adversarial(SMALL), Adversarial(SMALL, picks="both")):
        assert spec_from_data(WorldSpec, spec.to_data()) == spec
    with pytest.raises(SettingError, match="picks must be"):
        Adversarial(SMALL, picks="context")


def test_an_adversary_draws_among_equals() -> None:
    empty = Adversarial(Hard(better="none"))
    assert {play(empty, Uniform(), 1, seed=s).instructions[0] for s in range(20)} == {0, 1}
    later = play(empty, Uniform(), 1000, seed=0).instructions[2:]
    assert 400 < int(np.sum(later)) < 600


def test_an_adversary_costs_more() -> None:
    world = Synthetic(instructions=10, responses=5, rank=3, temperature=0.4, seed=1)
    fair, against = (
        np.mean([play(one, LORIL(), 300, seed=s).regret[-1] for s in range(4)])
        for one in (world, Adversarial(world))
    )
    assert against > fair


def test_an_adversary_changes_nothing_but_the_instructions() -> None:
    spec = SMALL.with_settings({"contexts": 3})
    plain = list(islice(rounds(spec, Uniform(), seed=6), 30))
    against = list(islice(rounds(Adversarial(spec), Uniform(), seed=6), 30))
    assert [r.task.context for r in plain] == [r.task.context for r in against]
    assert [r.description for r in plain] == [r.description for r in against]
    assert Adversarial(spec).facts == spec.facts


ADVERSARIES: list[WorldSpec] = [
    Adversarial(SMALL),
    Demonstrations(Adversarial(SMALL)),
    Adversarial(SMALL.with_settings({"contexts": 3}), picks="both"),
]


@pytest.mark.parametrize("spec", ADVERSARIES, ids=repr)
def test_an_adversary_is_a_function_of_the_past_that_it_is_given(spec: WorldSpec) -> None:
    """Also if it has read another before, shorter or longer or in turn."""
    pasts = [
        list(play(spec, agent, n, seed=seed).history)
        for agent, n, seed in ((Uniform(), 40, 1), (LORIL(), 41, 2), (Greedy(), 41, 3))
    ]
    pasts += [pasts[0][:-1], pasts[1][:20], []]
    stream = Stream(1, "world")

    def asked(world: Any, past: Sequence[Exchange]) -> Instruction:
        task: Task = world.task(len(past) + 1, past, stream.at(len(past) + 1))
        return task.instruction

    anew = [asked(begun(spec).world, past) for past in pasts]
    assert len(set(anew)) > 1
    again = begun(spec).world
    for _ in range(2):
        assert [asked(again, past) for past in pasts] == anew
        assert [asked(again, past) for past in reversed(pasts)] == anew[::-1]


@pytest.mark.parametrize("spec", ADVERSARIES, ids=repr)
def test_two_agents_in_one_live_world_do_not_pay_for_each_other(spec: WorldSpec) -> None:
    alone = [play(begun(spec), agent, 80, seed=s) for s, agent in ((1, LORIL()), (2, Uniform()))]
    shared = begun(spec)
    games = [rounds(shared, agent, seed=s) for s, agent in ((1, LORIL()), (2, Uniform()))]
    together = [[next(game) for game in games] for _ in range(80)]
    for n, run in enumerate(alone):
        instructions = [pair[n].task.instruction for pair in together]
        np.testing.assert_array_equal(instructions, run.instructions)


def test_a_long_past_is_not_read_again_every_round() -> None:
    """What the world within is given counts how much of the past was looked at."""
    looked = 0

    class Counting(Sequence[Exchange]):
        def __init__(self) -> None:
            self.rounds: list[Exchange] = []

        def __len__(self) -> int:
            return len(self.rounds)

        def __getitem__(self, which: Any) -> Any:
            nonlocal looked
            found = self.rounds[which]
            looked += len(found) if isinstance(which, slice) else 1
            return found

    for spec in ADVERSARIES:
        looked = 0
        simulation, past, stream = begun(spec), Counting(), Stream(1, "world")
        for t in range(1, 201):
            task = simulation.world.task(t, past, stream.at(t))
            past.rounds.append(Exchange(task, t % 4, t % 5))
        assert 0 < looked <= 3 * 200
