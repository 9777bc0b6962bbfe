"""Runs with exams on held-out tasks, in worlds whose responses are too many to list."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tellback.arrays import Array, Indices
from tellback.errors import SettingError
from tellback.lab.run_spec import RunSpec
from tellback.protocol import rounds
from tellback.responses import Listed, Shortlist
from tellback.roles import Simulation, Task, Truth, WorldSpec, meets
from tellback.specs import Data
from tellback.streams import Streams
from tellback.ties import maxima

VERSION = 1
"""Of exams: goes up when the same settings give other results."""

AT_A_TIME = 50
"""Rounds between two reports of progress."""

SHOWN = 40
"""The exam's first tasks whose answers are noted beside the result, to be drawn."""

SILENT = 20
"""A run ends after so many rounds for each description it needs, however few there were."""


class Score(NamedTuple):
    """What an exam measures; means over its tasks.

    Attributes
    ----------
    success : float
        The share of tasks whose response does what was asked (``tellback.roles.meets``).
    reward : float
        The reward, over the best of all responses.
    attainable : float
        The share of tasks with such a response in the shortlist.
    """

    success: float
    reward: float
    attainable: float


MEASURES = (*Score._fields, "regret", "rounds")
"""The rows of a result: the exam's, then regret and rounds up to each mark."""


@dataclass(frozen=True)
class HeldOutRun(RunSpec):
    """One agent, examined on held-out tasks at some numbers of descriptions.

    ``rounds`` is the last mark. Rounds without a description do not count as such.
    """

    marks: tuple[int, ...] = ()
    tasks: int = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.marks or self.marks[-1] != self.rounds or min(self.marks) < 0:
            raise SettingError(f"marks must end with the {self.rounds} rounds, not {self.marks}.")

    def to_data(self) -> Data:
        """The configuration as plain data."""
        exams = {"version": VERSION, "marks": list(self.marks), "tasks": self.tasks}
        return super().to_data() | {"exams": exams}

    @cached_property
    def classes(self) -> frozenset[type]:
        """The classes of the run's specs, and this one: exams are part of the result."""
        return super().classes | {type(self)}

    def points(self) -> Indices:
        """The number of descriptions before each exam, for each measure."""
        return np.tile(np.array(self.marks, dtype=np.int64), len(MEASURES))

    def perform(
        self, progress: Callable[[int], object] | None = None, isolated: bool = False
    ) -> tuple[Array, Data]:
        """All measures at all marks, a row a measure; the rounds a second and answers beside."""
        streams = Streams(self.seed)
        simulation = self.world.build(streams.init("world"))
        agent: Any = self.agent.build(simulation.world.facts, streams.init("agent"))
        asked = held_out_tasks(self.world, simulation, self.tasks, self.seed)
        played = _descriptions(simulation, agent, self.seed)
        found, seconds = np.full((len(MEASURES), len(self.marks)), np.nan), 0.0
        answers: list[list[str]] = []
        told = regret = played_rounds = 0.0
        for m, mark in enumerate(self.marks):
            began = time.process_time()
            limit = SILENT * max(mark, 1)
            while told < mark and played_rounds < limit:
                described, lost = next(played)
                told, regret, played_rounds = told + described, regret + lost, played_rounds + 1
                if progress is not None and described and told % AT_A_TIME == 0:
                    progress(AT_A_TIME)
            seconds += time.process_time() - began
            score, given = examined(agent, asked)
            found[:, m] = (*score, regret, played_rounds)
            answers.append([str(one) for one in given[:SHOWN]])
        return found.ravel(), {
            "rounds a second": played_rounds / seconds if seconds else float("nan"),
            "described": told / max(played_rounds, 1),
            "answers": answers,
        }


class HeldOutTasks(NamedTuple):
    """The tasks of an exam, with their truth."""

    tasks: tuple[Task, ...]
    truth: Truth


def held_out_tasks(world: WorldSpec, simulation: Simulation, count: int, seed: int) -> HeldOutTasks:
    """Tasks that no run with this seed is given, the same for all agents.

    A world with tasks that it keeps for exams has ``for_exams()``, the spec of a world of these.
    """
    part: Callable[[], WorldSpec] | None = getattr(world, "for_exams", None)
    source = simulation if part is None else part().build(Streams(seed).init("world"))
    if source.truth is None:
        raise SettingError(f"{world.label()} has no truth to examine agents by.")
    stream = Streams(seed).stream("exam")
    tasks = (source.world.task(t, (), stream.at(t)) for t in range(1, count + 1))
    return HeldOutTasks(tuple(tasks), source.truth)


def examined(agent: Any, asked: HeldOutTasks) -> tuple[Score, list[Any]]:
    """How an agent does on tasks that nobody describes, without exploring; and its answers."""
    truth, stream = asked.truth, Streams(0).stream("exam agent")
    rows, given = [], []
    for t, task in enumerate(asked.tasks, start=1):
        response, among = answer(agent, task, stream.at(t))
        reward, best = truth.reward(task, response), truth.best(task)
        ratio = reward / best if best > 0 else 1.0
        met = meets(truth, task, response)
        rows.append((met, ratio, _any(truth, task, among, met)))
        given.append(response)
    return Score(*np.mean(rows, axis=0).tolist()), given


def answer(agent: Any, task: Task, rng: np.random.Generator) -> tuple[Any, Shortlist | None]:
    """The response with the highest estimate, and the shortlist it is from, if there is one."""
    draw = getattr(agent, "shortlisted", None)
    listed = task if draw is None else draw(task, rng)
    if not isinstance(listed.responses, Listed):  # an agent without estimates
        return agent.respond(task, rng).response, None
    estimates = agent.model.estimates(task.instruction, listed.responses)
    best = maxima(np.nan_to_num(estimates), random=True)
    place = best.item(int(rng.random() * len(best)))
    if not isinstance(listed.responses, Shortlist):
        return place, None
    return listed.responses.responses[place], listed.responses


def _any(truth: Any, task: Task, among: Shortlist | None, met: bool) -> float:
    """Whether some response of a shortlist does what was asked: mostly the one chosen."""
    if among is None:
        return float("nan")
    return float(met or any(meets(truth, task, one) for one in among.responses))


def _descriptions(simulation: Simulation, agent: Any, seed: int) -> Iterator[tuple[bool, float]]:
    """Of each round, whether it was described, and its regret."""
    for one in rounds(simulation, agent, seed=seed):
        yield one.description is not None, one.regret
