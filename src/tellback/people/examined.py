"""Runs with exams: an agent plays or is taught, and is examined at some numbers of descriptions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from tellback.arrays import Array, Indices
from tellback.errors import SettingError
from tellback.lab.run_spec import RunSpec
from tellback.people.batch import BatchSpec, Described, no_idea
from tellback.people.exam import Answer, Question, answers, questions, success
from tellback.people.held_out import EXAMS, ROOMS, HeldOut
from tellback.protocol import rounds
from tellback.responses import Listed
from tellback.roles import Agent, Choice, Instruction, State, Task
from tellback.specs import Data
from tellback.streams import Streams
from tellback.worlds.recorded import Recorded, simulation_in
from tellback.worlds.recorded_pool import Entry
from tellback.worlds.sentences import choice

VERSION = 1
"""Of exams: goes up when the same settings give other results."""

BESIDE = 4
"""Other responses of the group that are shown beside a described one, if all are taught."""

AT_A_TIME = 20
"""Rounds between two reports of progress."""

EXAMPLES = 8
"""Answers that are kept of each kind, right and wrong."""


@dataclass(frozen=True)
class Examined(RunSpec):
    """One agent, examined at some numbers of descriptions.

    The agent plays rounds, each with one description of what it chose. With ``taught``, it is
    taught all descriptions of the training part in random order instead. Models in batch are
    fitted to the same descriptions. ``seed`` draws what is held out, too.
    """

    marks: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()  # of the exams; a group of any of them is not in training
    tuned_on: tuple[str, ...] = ()  # groups that are not examined
    batch: tuple[BatchSpec, ...] = ()
    tasks: int = 400
    taught: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.world, Recorded):
            raise SettingError(f"Exams are of a recorded world, not of {self.world!r}.")

    def to_data(self) -> Data:
        """The configuration as plain data."""
        names = ("marks", "candidates", "tuned_on", "tasks", "taught")
        exams: Data = {name: getattr(self, name) for name in names}
        exams |= {"version": VERSION, "batch": [one.to_data() for one in self.batch]}
        return super().to_data() | {"exams": exams}

    @cached_property
    def classes(self) -> frozenset[type]:
        """The classes of the run's specs, and this one: exams are part of the result."""
        return super().classes | {type(self), *map(type, self.batch)}

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of its result: learners (the agent first), candidates, exams, marks."""
        return 1 + len(self.batch), len(self._examined), len(EXAMS), len(self.marks)

    @property
    def _examined(self) -> tuple[int, ...]:
        return self.candidates if self.taught else (self._world.candidates,)

    @property
    def _world(self) -> Recorded:
        assert isinstance(self.world, Recorded)
        return self.world

    def points(self) -> Indices:
        """The number of descriptions before each exam."""
        return np.tile(np.array(self.marks, dtype=np.int64), int(np.prod(self.shape[:3])))

    def perform(
        self, progress: Callable[[int], object] | None = None, isolated: bool = False
    ) -> tuple[Array, Data]:
        """The shares of right answers in the order of ``shape``; costs and examples beside."""
        held_out = HeldOut.draw(self._world, self.candidates, self.tuned_on, self.seed)
        asked = {
            (k, name): questions(held_out, name, k, self.tasks, self.seed)
            for k in self._examined
            for name in EXAMS
        }
        agent = _Timed(self.agent.build(self._world.facts, Streams(self.seed).init("agent")))
        lessons = (_taught if self.taught else _played)(self, held_out, agent)
        found, matrix = np.full(self.shape, np.nan), self._world.rows.matrix
        told: list[Described] = []
        for m, mark in enumerate(self.marks):
            while len(told) < mark:
                more = list(islice(lessons, min(AT_A_TIME, mark - len(told))))
                told += more
                if progress is not None:
                    progress(len(more))
            fitted = (one.fit(told, matrix) if told else no_idea for one in self.batch)
            scorers = [agent.scores, *fitted]
            for i, scorer in enumerate(scorers):
                for j, k in enumerate(self._examined):
                    for e, name in enumerate(EXAMS):
                        found[i, j, e, m] = success(answers(asked[k, name], scorer))
        shown = asked[self._examined[0], ROOMS]
        examples = _examples(shown, answers(shown, agent.scores))
        return found.ravel(), {"cost": agent.cost(), "examples": examples}


@dataclass
class _Timed:
    """An agent with a record of the CPU time of each description."""

    agent: Any
    seconds: list[float] = field(default_factory=list)

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        chosen: Choice = self.agent.respond(task, rng)
        return chosen

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        began = time.process_time()
        self.agent.learn(task, choice, description)
        self.seconds.append(time.process_time() - began)

    def state(self) -> State:
        found: State = self.agent.state()
        return found

    def restore(self, state: State) -> None:
        self.agent.restore(state)

    def scores(self, tasks: Sequence[Task]) -> Iterator[Array]:
        """The estimates of its model: an exam is without exploration."""
        for task in tasks:
            yield self.agent.model.estimates(task.instruction, task.responses)

    def cost(self) -> Data:
        """Milliseconds of CPU time for a description."""
        spent = 1000 * np.array(self.seconds or [0.0])
        return {"mean": float(spent.mean()), "largest": float(spent.max())}


def _played(run: Examined, held_out: HeldOut, agent: Agent) -> Iterator[Described]:
    """The descriptions of rounds, in which the agent chooses."""
    pool = held_out.training()
    row_of = {entry.id: entry.row for entry in pool.entries}
    simulation = simulation_in(pool, run._world.rows.matrix, run._world.wrong)
    for one in rounds(simulation, agent, seed=run.seed):
        shown = tuple(row_of[name] for name in one.task.context.ids)
        yield Described(shown, one.choice.response, str(one.description))


def _taught(run: Examined, held_out: HeldOut, agent: Agent) -> Iterator[Described]:
    """All descriptions of the training part in random order, as if each had been chosen."""
    of_lessons, matrix = Streams(run.seed).stream("lessons"), run._world.rows.matrix
    entries = held_out.training().entries
    by_group: dict[str, list[Entry]] = {}
    for entry in entries:
        by_group.setdefault(entry.group, []).append(entry)
    lessons = [(entry, text) for entry in entries for text in entry.texts]
    for t, at in enumerate(of_lessons.at(0).permutation(len(lessons)).tolist(), 1):
        (entry, text), rng = lessons[at], of_lessons.at(t)
        beside = (choice(by_group[entry.group], rng).row for _ in range(BESIDE))
        task = Task(None, text, Listed(matrix[[entry.row]]))
        agent.learn(task, task.choose(0), text)
        yield Described((entry.row, *beside), 0, text)


def descriptions(
    world: Recorded, candidates: tuple[int, ...], tuned_on: tuple[str, ...], seed: int
) -> int:
    """How many descriptions the training part has."""
    training = HeldOut.draw(world, candidates, tuned_on, seed).training()
    return sum(len(entry.texts) for entry in training.entries)


def _examples(asked: Sequence[Question], given: Sequence[Answer]) -> list[Data]:
    """Some questions that were answered rightly and wrongly, in people's words."""
    found: list[Data] = []
    for right in (True, False):
        kind = [
            {
                "right": right,
                "asked": str(question.task.instruction),
                "chosen": question.said[answer.response],
                "meant": question.said[question.target],
            }
            for question, answer in zip(asked, given, strict=True)
            if (answer.response == question.target) == right
        ]
        found += kind[:EXAMPLES]
    return found
