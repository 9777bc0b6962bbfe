"""Careless teachers in the demonstration: questions, and descriptions that are left out.

A simulated teacher describes 60 pictures. With some probability a description is a slip: half of
them describe another of the pictures shown, half a random one. The teacher is asked about doubtful
descriptions, before they are stored and later, as the Teach page does: one later question after a
description at most. An honest teacher corrects a slip in 95 of 100 cases when asked, and stands by
what was right. A stubborn one always stands by it. Settings were chosen on seeds 1000 to 1009.

With ``intervals``: in how many of 100 lessons the interval of the teacher's reliability holds the
share of descriptions that are right, after 24 and after 60. One teacher says "red square" whatever
it is. Settings were chosen on seeds 1000 to 1024.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed import bar
from tellback.classroom.learning.definition import OFF, Definition
from tellback.classroom.learning.demonstration import demonstration
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.questions import next_question, question
from tellback.classroom.learning.reliability import reliability
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.descriptions import AskedAgain
from tellback.classroom.store.lessons import create_lesson
from tellback.classroom.store.rounds import find_asked, find_round
from tellback.theory.shares import Share
from tellback.worlds.images import Scene, shape_of
from tellback.worlds.sentences import choice
from tellback.worlds.wordings import TEACHING, worded

GIVEN = 60
LESSONS = 20
HONEST = 0.95
"""How often an honest teacher corrects a slip when asked."""

BARS = {0.2: 0.92, 0.4: 0.82}
"""The least share of held-out requests met by an honest teacher's agent, by the share of slips."""


class Outcome(NamedTuple):
    """What became of a lesson."""

    met: float  # the share of held-out requests
    slips: int
    asked_of_slips: int
    asked_of_right: int
    corrected: int


class Look(NamedTuple):
    """A teacher's reliability as it is stated, None if nothing is known; and the truth."""

    stated: Share | None
    right: float


class CarelessTeacher:
    """Describes pictures, sometimes wrongly; says when asked whether it was a slip."""

    def __init__(self, definition: Definition, slips: float, honest: float) -> None:
        world = definition.world
        self._things: list[Any] = list(world.gallery.objects)  # type: ignore[union-attr]
        self._rng = np.random.default_rng([definition.seed, 7])
        self._slips, self._honest = slips, honest
        self.wrong: set[int] = set()

    def describe(self, round: int, scene: Scene, response: int) -> str:
        """A description, which may be a slip."""
        if self._rng.random() < self._slips:
            self.wrong.add(round)
            return self._slip(scene, response)
        return self._of(scene, response)

    def corrected(self, round: int, scene: Scene, response: int) -> str | None:
        """The answer to a question: a better description, or None to stand by it."""
        if round not in self.wrong or self._rng.random() >= self._honest:
            return None
        self.wrong.remove(round)
        return self._of(scene, response)

    def share_right(self, rounds: Iterable[int]) -> float:
        """The share of some rounds whose description is right."""
        return float(np.mean([round not in self.wrong for round in rounds]))

    def _of(self, scene: Scene, response: int) -> str:
        shape = shape_of(scene, response)
        return worded(choice(TEACHING, self._rng), (shape.type, shape.colour), self._rng)

    def _slip(self, scene: Scene, response: int) -> str:
        shape = shape_of(scene, response)
        while True:
            other: Any = self._things[int(self._rng.integers(len(self._things)))]
            if self._rng.random() < 0.5:
                shown = shape_of(scene, int(self._rng.integers(len(scene.shapes))))
                other = (shown.type, shown.colour)
            if other != (shape.type, shape.colour):
                return worded(choice(TEACHING, self._rng), other, self._rng)


class ConstantTeacher(CarelessTeacher):
    """Says the same of everything."""

    def describe(self, round: int, scene: Scene, response: int) -> str:
        """The same description."""
        shape = shape_of(scene, response)
        if (shape.type, shape.colour) != ("square", "red"):
            self.wrong.add(round)
        return "red square"


def lesson(
    database: Database,
    seed: int,
    slips: float,
    honest: float,
    doubt: str,
    kind: type[CarelessTeacher] = CarelessTeacher,
    looks: dict[int, list[Look]] | None = None,
    count: int = GIVEN,
) -> Outcome:
    """One lesson; ``looks`` are added at the numbers of descriptions that it has."""
    definition = replace(demonstration("pictures", seed), doubt=doubt)
    with database.write() as connection:
        row = create_lesson(connection, "careless", definition.to_data())
    learner = Learner(database, row)
    teacher = kind(definition, slips, honest)
    asked = {True: 0, False: 0}  # of slips, and of right descriptions
    given, corrected = 0, 0

    def scene_of(round: int) -> Scene:
        scene: Scene = learner.agent.world_task(round).context
        return scene

    while given < count:
        claimed = learner.claim("ann", time.time() + 600)
        assert claimed is not None
        round, scene = claimed.task.round, scene_of(claimed.task.round)
        said = first = teacher.describe(round, scene, claimed.response)
        again = None
        if question(learner, round, "ann", said) is not None:
            asked[round in teacher.wrong] += 1
            better = teacher.corrected(round, scene, claimed.response)
            corrected += better is not None
            said, again = better or said, AskedAgain(first)
        learner.describe(round, "ann", said, asked_again=again)
        given += 1
        later = None if again is not None else next_question(learner, "ann")  # one at a time
        if later is not None:
            asked[later.round in teacher.wrong] += 1
            response = _response(learner, later.round)
            better = teacher.corrected(later.round, scene_of(later.round), response)
            corrected += better is not None
            text = better or str(later.said)
            learner.describe(later.round, "ann", text, asked_again=AskedAgain())
        if looks is not None and given in looks:
            looks[given].append(_look(learner, teacher))
    right = learner.right()
    assert right is not None
    slips_made = len(teacher.wrong) + corrected
    return Outcome(float(np.mean(right)), slips_made, asked[True], asked[False], corrected)


def _look(learner: Learner, teacher: CarelessTeacher) -> Look:
    with learner.reading() as connection:
        found = reliability(learner, connection, [])
    return Look(found.get("ann"), teacher.share_right(learner.agent.active))


def _response(learner: Learner, round: int) -> int:
    with learner.reading() as connection:
        row = find_round(connection, learner.lesson, round)
        response: int = find_asked(connection, learner.lesson, row).choice.response
    return response


def mean_of(slips: float, honest: float, doubt: str, seeds: range) -> Outcome:
    """The mean outcome of some lessons."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{Path(folder) / 'careless.db'}")
        try:
            found = [lesson(database, seed, slips, honest, doubt) for seed in seeds]
        finally:
            database.close()
    return Outcome(*np.mean(np.array(found), axis=0).tolist())


def careless(*shares: float) -> bool:
    """Print the figures for some shares of slips; whether an honest teacher reaches the bars."""
    reached, seeds = True, range(LESSONS)
    for slips in shares or (0.0, *BARS):
        for name, honest, doubt in (
            ("nobody asks", 0.0, OFF),
            ("honest", HONEST, "weigh"),
            ("stubborn", 0.0, "weigh"),
        ):
            one = mean_of(slips, honest, doubt, seeds)
            line = (
                f"{slips:.0%} slips, {name}: {one.met:.1%} met after {GIVEN} "
                f"({len(seeds)} lessons); {one.slips:.1f} slips, asked of {one.asked_of_slips:.1f} "
                f"and of {one.asked_of_right:.1f} right ones, {one.corrected:.1f} corrected"
            )
            print(line, flush=True)
            if name == "honest" and slips in BARS:
                print(f"  {bar(one.met >= BARS[slips], BARS[slips])}")
                reached &= one.met >= BARS[slips]
    return reached


TEACHERS: dict[str, tuple[float, float, type[CarelessTeacher]]] = {
    "careful": (0.0, HONEST, CarelessTeacher),
    "20% slips, honest": (0.2, HONEST, CarelessTeacher),
    "20% slips, stubborn": (0.2, 0.0, CarelessTeacher),
    "40% slips, stubborn": (0.4, 0.0, CarelessTeacher),
    "always red square": (0.0, 0.0, ConstantTeacher),
}
COVERED = 0.93


def intervals(lessons: int = 100) -> bool:
    """Print how often stated intervals hold the truth; whether they do often enough."""
    reached = True
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{Path(folder) / 'careless.db'}")
        for name, (slips, honest, kind) in TEACHERS.items():
            looks: dict[int, list[Look]] = {24: [], GIVEN: []}
            for seed in range(lessons):
                lesson(database, seed, slips, honest, "weigh", kind, looks)
            for given, found in looks.items():
                stated = [(one.stated, one.right) for one in found if one.stated is not None]
                held = [share.low <= right <= share.high for share, right in stated]
                wide = [share.high - share.low for share, _ in stated]
                print(
                    f"{name}, {given} described: {sum(held)} of {len(held)} intervals hold the "
                    f"share of right ones, mean width {np.mean(wide or [np.nan]):.2f}; nothing is "
                    f"stated in {lessons - len(held)} of {lessons}",
                    flush=True,
                )
                reached &= sum(held) >= COVERED * len(held)
        database.close()
    return reached


if __name__ == "__main__":
    if sys.argv[1:2] == ["intervals"]:
        sys.exit(0 if intervals(*map(int, sys.argv[2:])) else 1)
    sys.exit(0 if careless(*map(float, sys.argv[1:])) else 1)
