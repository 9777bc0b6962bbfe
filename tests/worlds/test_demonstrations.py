"""Contexts show the last task and its best response."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

from tellback import Choice, Simulation, Task, play, rounds
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Imitation, Uniform
from tellback.roles import DemonstratedContext, Exchange, Instruction, WorldSpec
from tellback.streams import Stream
from tellback.worlds import Adversarial, Demonstrations, Synthetic
from tests.support.theory_worlds import PICTURES, SMALL, begun, costs_by_hand

# Demonstrations.


def best_rewards(simulation: Simulation, task: Task) -> list[float]:
    truth = simulation.truth
    assert truth is not None
    return [truth.reward(task, y) for y in range(len(task.responses))]


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_a_context_shows_the_task_before_and_a_best_response_to_it(contexts: int | str) -> None:
    spec = SMALL.with_settings({"contexts": contexts})
    inner = begun(spec)
    shown = list(islice(rounds(begun(Demonstrations(spec)), Uniform(), seed=3), 40))
    plain = list(islice(rounds(begun(spec), Uniform(), seed=3), 40))
    first = shown[0].task.context
    assert isinstance(first, DemonstratedContext)
    assert first.before is None
    assert first.best is None
    for before, r, one in zip(plain, shown[1:], plain[1:], strict=False):
        context = r.task.context
        assert type(context) is DemonstratedContext
        np.testing.assert_array_equal(context.scene, one.task.context)
        assert context.before is not None
        assert context.before.instruction == before.task.instruction
        np.testing.assert_array_equal(context.before.context, before.task.context)
        np.testing.assert_array_equal(context.before.responses.matrix, before.task.responses.matrix)
        rewards = best_rewards(inner, context.before)
        assert rewards[context.best] == max(rewards)


@pytest.mark.parametrize("agent", [LORIL(), EpsilonGreedy(epsilon=0.3), Uniform()], ids=repr)
@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_who_does_not_look_at_contexts_plays_as_in_the_world_itself(
    agent: AgentSpec, contexts: int | str
) -> None:
    spec = SMALL.with_settings({"contexts": contexts, "seed": None, "asks": "marginal"})
    plain, shown = (play(world, agent, 80, seed=5) for world in (spec, Demonstrations(spec)))
    columns = ("instructions", "responses", "descriptions", "rewards", "regrets", "estimates")
    for name in columns:
        np.testing.assert_array_equal(getattr(plain, name), getattr(shown, name), err_msg=name)
    assert Demonstrations(spec).facts == spec.facts


def test_its_teacher_and_truth_are_those_of_the_world() -> None:
    spec = SMALL.with_settings({"contexts": 3})
    inner, outer = begun(spec), begun(Demonstrations(spec))
    assert inner.truth is not None
    assert outer.truth is not None
    stream = Stream(2, "teacher")
    for r in islice(rounds(begun(spec), Uniform(), seed=3), 30):
        task, y = r.task, r.choice.response
        shown = task._replace(context=DemonstratedContext(task.context))
        assert inner.truth.reward(task, y) == outer.truth.reward(shown, y)
        assert inner.truth.best(task) == outer.truth.best(shown)
        told = [
            simulation.teacher.describe(one.context, y, stream.at(r.t))
            for simulation, one in ((inner, task), (outer, shown))
        ]
        assert told[0] == told[1]


def test_pictures_can_be_shown_too() -> None:
    plain, shown = (
        play(world, Uniform(), 12, seed=5) for world in (PICTURES, Demonstrations(PICTURES))
    )
    assert plain.instructions == shown.instructions
    assert plain.descriptions == shown.descriptions
    np.testing.assert_array_equal(plain.regrets, shown.regrets)


@pytest.mark.parametrize(
    "spec", [Adversarial(Demonstrations(SMALL)), Demonstrations(Adversarial(SMALL))], ids=repr
)
def test_what_an_adversary_asked_for_is_shown_whichever_is_within(spec: WorldSpec) -> None:
    made = list(islice(rounds(spec, Uniform(), seed=8), 60))
    for before, r in pairwise(made):
        assert isinstance(r.task.context, DemonstratedContext)
        assert r.task.context.before is not None
        assert r.task.context.before.instruction == before.task.instruction
        rewards = best_rewards(
            begun(SMALL), Task(0, before.task.instruction, before.task.responses)
        )
        assert rewards[r.task.context.best] == max(rewards)
    run = play(spec, Uniform(), 60, seed=8)
    for t in range(60):
        costs = costs_by_hand(run, t, 5)
        assert costs[run.instructions[t]] == costs.max()


class Reader:
    """A world that reads some rounds of the past, and notes what it was given."""

    def __init__(self, world: Any, memory: int | None) -> None:
        self.facts, self.memory, self._world = world.facts, memory, world
        self.given: list[list[Exchange]] = []

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        self.given.append(list(history))
        task: Task = self._world.task(t, history, rng)
        return task


@pytest.mark.parametrize(("memory", "most"), [(0, 1), (1, 1), (4, 4), (None, 11)])
def test_the_world_within_can_read_as_much_of_its_own_past_as_it_wants(
    memory: int | None, most: int
) -> None:
    made: list[Reader] = []

    class Reading(Synthetic):
        abstract = True

        def build(self, rng: np.random.Generator) -> Simulation:
            inner = super().build(rng)
            made.append(Reader(inner.world, memory))
            return Simulation(made[-1], inner.teacher, inner.truth)

    spec = Demonstrations(Reading(instructions=5, responses=4, rank=3, contexts=3))
    run = play(spec, Uniform(), 12, seed=2)
    (reader,) = made
    assert [len(past) for past in reader.given] == [min(t, most) for t in range(12)]
    for t, past in enumerate(reader.given):
        for before, exchange in zip(range(t - len(past), t), past, strict=True):
            assert exchange.task.context in (0, 1, 2)
            assert exchange.task.instruction == run.instructions[before]
            assert exchange.response == run.responses[before]
            assert exchange.description == run.descriptions[before]


def test_what_is_shown_does_not_grow_with_the_rounds() -> None:
    (last,) = islice(rounds(Demonstrations(SMALL), Uniform(), seed=8), 29, 30)
    assert last.task.context.before.context == 0


class Watching:
    """Notes the context of each task that it is given."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.contexts.append(task.context)
        return task.choose(0)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None: ...


def test_what_is_shown_does_not_depend_on_what_the_agent_did() -> None:
    one = Watching()
    for _ in islice(rounds(Demonstrations(SMALL), one, seed=2), 25):
        pass
    other = [r.task.context for r in islice(rounds(Demonstrations(SMALL), Imitation(), seed=2), 25)]
    assert [(c.before and c.before.instruction, c.best) for c in one.contexts] == [
        (c.before and c.before.instruction, c.best) for c in other
    ]
