"""The exam of a lesson: requests to which the agent's answers are followed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tellback.agents.agent import ModelAgent
from tellback.arrays import Indices
from tellback.classroom.learning.definition import Definition
from tellback.roles import Instruction, Simulation, Task, Truth
from tellback.streams import Streams
from tellback.ties import maxima
from tellback.worlds.recorded import Recorded

REQUESTS = 100
"""Held-out requests of a demonstration."""

LATEST = 40
"""Requests of other lessons: those of the latest described rounds."""

MOST_NUMBERS = 4_000_000
"""Limit on the features of all their responses: with many responses, there are fewer requests."""


@dataclass(frozen=True)
class Flip:
    """A request with another answer than before."""

    request: Instruction
    before: int
    after: int
    was_right: bool | None  # None if that is not known
    is_right: bool | None


class Exam:
    """The agent's answers to some requests, without exploring; a demonstration has the truth."""

    def __init__(self, tasks: Iterable[Task], truth: Truth | None = None) -> None:
        self.tasks = list(tasks)
        self._truth = truth

    @property
    def judged(self) -> bool:
        """Whether it is known which answers are right."""
        return self._truth is not None

    def answers(self, agent: ModelAgent) -> Indices:
        """The response with the highest estimate for each request; among equals, the first."""
        return np.array([_first_best(agent, task) for task in self.tasks], dtype=np.intp)

    def right(self, answers: Indices) -> list[bool] | None:
        """Which answers have the highest possible reward; None if that is not known."""
        if self._truth is None:
            return None
        pairs = zip(self.tasks, answers.tolist(), strict=True)
        return [bool(self._is_right(task, response)) for task, response in pairs]

    def _is_right(self, task: Task, response: int) -> bool | None:
        if self._truth is None:
            return None
        return self._truth.reward(task, response) >= self._truth.best(task)

    def flips(self, before: Indices, after: Indices) -> list[Flip]:
        """The requests whose answer has changed."""
        return [
            Flip(task.instruction, was, now, self._is_right(task, was), self._is_right(task, now))
            for task, was, now in zip(self.tasks, before.tolist(), after.tolist(), strict=True)
            if was != now
        ]


def _first_best(agent: ModelAgent, task: Task) -> int:
    best = maxima(agent.model.estimates(task.instruction, task.responses), random=False)
    return best.item(0) if len(best) else 0  # an agent without estimates


def exam_of(definition: Definition, simulation: Simulation | None) -> Exam:
    """The exam of a lesson: held-out requests of its world; without a world, none yet."""
    if isinstance(definition.world, Recorded):
        simulation = _held_out(definition.world)
    if simulation is None:
        return Exam([])
    stream = Streams(definition.seed).stream("exam")
    world = simulation.world
    tasks = [world.task(t, (), stream.at(t)) for t in range(1, REQUESTS + 1)]
    return Exam(tasks, simulation.truth)


def _held_out(world: Recorded) -> Simulation | None:
    """The part of a recording that teaches nothing; None if all of it teaches."""
    if not world.hold_out:
        return None
    return world.with_settings({"part": "exam"}).build(np.random.default_rng(0))
