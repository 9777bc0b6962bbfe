"""The exam of a lesson: requests to which the agent's answers are followed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.held_out import OfDescriptions
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.responses import Listed, Shortlist
from tellback.roles import Instruction, Simulation, Task, Truth, meets
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
    before: int | str  # the response: an index, or a text such as a path
    after: int | str
    was_right: bool | None  # None if that is not known
    is_right: bool | None


class Effect(NamedTuple):
    """The change of the agent's answers by a description."""

    learned: int
    changes: list[Flip]
    right: int | None
    requests: int
    weighed: int = 0  # descriptions left out, or taken back in, by a weighing that came with it


class Exam:
    """The agent's answers to some requests, without exploring; a demonstration has the truth."""

    def __init__(self, tasks: Iterable[Task], truth: Truth | None = None) -> None:
        self.tasks = list(tasks)
        self._truth = truth

    @property
    def judged(self) -> bool:
        """Whether it is known which answers are right."""
        return self._truth is not None

    def answers(self, agent: LessonAgent) -> list[Any]:
        """The response with the highest estimate for each request; among equals, the first."""
        return [_first_best(agent, task) for task in self.tasks]

    def right(self, answers: list[Any]) -> list[bool] | None:
        """Which answers meet their request; None if that is not known."""
        if self._truth is None or not self.tasks:
            return None
        pairs = zip(self.tasks, answers, strict=True)
        return [bool(self._is_right(task, response)) for task, response in pairs]

    def _is_right(self, task: Task, response: Any) -> bool | None:
        return None if self._truth is None else meets(self._truth, task, response)

    def flips(self, before: list[Any], after: list[Any]) -> list[Flip]:
        """The requests whose answer has changed.

        Where responses are drawn, most change a little at each sentence: only those count that
        have turned right or wrong.
        """
        flips = []
        for task, was, now in zip(self.tasks, before, after, strict=True):
            if was == now:
                continue
            was_right, is_right = self._is_right(task, was), self._is_right(task, now)
            if isinstance(task.responses, Listed) or was_right != is_right:
                flips.append(Flip(task.instruction, was, now, was_right, is_right))
        return flips


def _first_best(agent: LessonAgent, task: Task) -> Any:
    listed = agent.shortlisted(task).responses
    best = maxima(agent.model_agent.model.estimates(task.instruction, listed), random=False)
    place = best.item(0) if len(best) else 0  # an agent without estimates
    return listed.responses[place] if isinstance(listed, Shortlist) else place


def exam_of(definition: Definition, simulation: Simulation | None) -> Exam:
    """The exam of a lesson: held-out requests of its world; without a world, none yet.

    Of one's own material, requests are added as descriptions are held out.
    """
    if isinstance(definition.world, Recorded):
        simulation = _held_out(definition.world)
    if definition.material is not None:
        return Exam([], OfDescriptions())
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
