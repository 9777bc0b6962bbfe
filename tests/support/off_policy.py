"""Logs, policies and models to try off-policy estimates with."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from tellback import Listed, Round, Simulation, Task, play, rounds
from tellback.agents import (
    AgentSpec,
    Greedy,
    ModelAgent,
)
from tellback.off_policy import (
    Log,
    Policy,
)
from tellback.worlds import Synthetic
from tests.support.oracles import Floats

SPEC = Synthetic(instructions=5, responses=4, rank=3, temperature=0.5, seed=3)
SENTENCES = ("red ball", "blue ball", "green box")


@cache
def world() -> Simulation:
    return SPEC.build(np.random.default_rng(0))


def played(agent: AgentSpec, number: int, seed: int = 0) -> list[Round]:
    return list(islice(rounds(world(), agent, seed=seed), number))


def taught(number: int = 300) -> ModelAgent:
    """An agent that has learned in another run than the logged ones."""
    agent = play(world(), Greedy(), number, seed=10**6).agent
    assert isinstance(agent, ModelAgent)
    return agent


def reward(simulation: Simulation, task: Task, response: int) -> float:
    assert simulation.truth is not None
    return simulation.truth.reward(task, response)


class Fixed:
    """A policy that does not look at the task."""

    def __init__(self, *shares: float) -> None:
        self._shares = np.array(shares)

    def probabilities(self, task: Task) -> Floats:
        return self._shares


class Knowing:
    """A reward model that is right, in one table."""

    def __init__(self, table: Floats) -> None:
        self._table = table

    def estimates(self, instruction: Any, responses: Listed) -> Floats:
        row: Floats = self._table[instruction]
        return row


@cache
def the_truth() -> Knowing:
    simulation = world()
    responses = simulation.world.task(1, (), np.random.default_rng(0)).responses
    table = [
        [reward(simulation, Task(0, x, responses), y) for y in range(4)]
        for x in range(SPEC.instructions)
    ]
    return Knowing(np.array(table))


def true_mean(log: Log, policy: Policy) -> float:
    """The policy's mean reward on the tasks of the log, of which each instruction has one."""
    rewards, tasks = the_truth(), {task.instruction: task for task in log.tasks}
    asked = [task.instruction for task in log.tasks]
    return sum(
        asked.count(x) * float(policy.probabilities(task) @ rewards.estimates(x, task.responses))
        for x, task in tasks.items()
    ) / len(log)


def a_log(
    matches: list[float],
    propensities: list[float],
    responses: list[int] | None = None,
    count: int = 2,
) -> Log:
    """Rounds that all ask for 0, and are told 0, 1 or nothing."""
    listed = Listed(np.eye(count))
    n = len(matches)
    told = [None if np.isnan(match) else int(1 - match) for match in matches]
    return Log(
        (Task(None, 0, listed),) * n,
        np.array(responses or [0] * n),
        np.array(propensities),
        tuple(told),
        np.array(matches),
        np.zeros(n, dtype=bool),
    )


def same(one: Log, other: Log) -> None:
    for name in ("responses", "propensities", "matches", "teacher_saw_request"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.descriptions == other.descriptions
    for task, again in zip(one.tasks, other.tasks, strict=True):
        assert task.instruction == again.instruction
        np.testing.assert_array_equal(task.responses.matrix, again.responses.matrix)
