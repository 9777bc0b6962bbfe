"""Careless teachers in the demonstration: questions, and descriptions that are left out.

A simulated teacher describes 60 pictures. With some probability a description is a slip: half of
them describe another of the pictures shown, half a random one. The teacher is asked about doubtful
descriptions, before they are stored and later, as the Teach page does: one later question after a
description at most. An honest teacher corrects a slip in 95 of 100 cases when asked, and stands by
what was right. A stubborn one always stands by it. Settings were chosen on seeds 1000 to 1009.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed import bar
from tellback.classroom.learning.definition import OFF, Definition
from tellback.classroom.learning.demonstration import demonstration
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.questions import next_question, question
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.descriptions import AskedAgain
from tellback.classroom.store.lessons import create_lesson
from tellback.classroom.store.rounds import find_asked, find_round
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


def lesson(database: Database, seed: int, slips: float, honest: float, doubt: str) -> Outcome:
    """One lesson of ``GIVEN`` descriptions."""
    definition = replace(demonstration("pictures", seed), doubt=doubt)
    with database.write() as connection:
        row = create_lesson(connection, "careless", definition.to_data())
    learner = Learner(database, row)
    teacher = CarelessTeacher(definition, slips, honest)
    asked = {True: 0, False: 0}  # of slips, and of right descriptions
    given, corrected = 0, 0

    def scene_of(round: int) -> Scene:
        scene: Scene = learner.agent.world_task(round).context
        return scene

    while given < GIVEN:
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
        if again is not None:
            continue  # one question at a time
        later = next_question(learner, "ann")
        if later is not None:
            asked[later.round in teacher.wrong] += 1
            response = _response(learner, later.round)
            better = teacher.corrected(later.round, scene_of(later.round), response)
            corrected += better is not None
            text = better or str(later.said)
            learner.describe(later.round, "ann", text, asked_again=AskedAgain())
    right = learner.right()
    assert right is not None
    slips_made = len(teacher.wrong) + corrected
    return Outcome(float(np.mean(right)), slips_made, asked[True], asked[False], corrected)


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


if __name__ == "__main__":
    sys.exit(0 if careless(*map(float, sys.argv[1:])) else 1)
