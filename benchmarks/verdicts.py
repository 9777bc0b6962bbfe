"""Whether the interval of the share of requests met holds, in lessons that programs bring.

Tasks are those of the demonstration, brought as a program would bring them, so that the lesson does
not know the truth and the benchmark does. A teacher judges a random part of the rounds, as the page
asks for it. ``python -m benchmarks.verdicts 100`` plays 100 lessons of each kind of wording.
"""

from __future__ import annotations

import sys
import tempfile
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.demonstration import pictures
from tellback.classroom.learning.judged import judged_share, sounds_alike
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.verdicts import ASKED_OF_PEOPLE
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.judgements import keep_judgement
from tellback.classroom.store.lessons import create_lesson
from tellback.classroom.store.log import writing
from tellback.classroom.store.tasks import Content
from tellback.roles import meets
from tellback.streams import Streams
from tests.support.tellers import TELLERS, Teller

ROUNDS = 60
COVERED_BAR = 0.93


class Outcome(NamedTuple):
    """What a lesson showed."""

    shown: bool  # whether there was a share at the end
    held: bool  # whether its interval held the true share at the end
    always: bool  # the same after every round
    alike_wrong: float  # the share of rounds in which "sounds alike" was wrong


def lesson(database: Database, seed: int, tell: Teller) -> Outcome:
    """A lesson of some rounds."""
    definition = pictures(seed)
    assert definition.world is not None
    streams, rng = Streams(seed), np.random.default_rng(seed)
    simulation = definition.world.build(streams.init("world"))
    assert simulation.truth is not None
    brought = Definition(dim=definition.facts.dim, seed=seed)
    with database.write() as connection:
        row = create_lesson(connection, "brought", brought.to_data())
    learner = Learner(database, row)
    priority = learner.verdicts.priority
    met: list[bool] = []
    judged: dict[int, bool | None] = {}
    alike_wrong, always, held, share = 0, True, False, None
    for t in range(1, ROUNDS + 1):
        task = simulation.world.task(t, (), streams.stream("world").at(t))
        asked = learner.ask(str(task.instruction), task.responses, Content(), "robot")
        said = tell(task.context.shapes[asked.choice.response], rng)
        learner.describe(asked.number, "ann", said, anyones=True)
        met.append(meets(simulation.truth, task, asked.choice.response))
        with database.read() as connection:
            alike = sounds_alike(learner, connection, asked.number, said)
        alike_wrong += alike is not met[-1]  # also where the agent cannot tell
        if priority(t) < ASKED_OF_PEOPLE:
            judged[t] = met[-1]
            with writing(database, learner.lesson) as log:
                keep_judgement(log, t, "ann", met[-1])
        share = judged_share(range(1, t + 1), judged, priority)
        held = share is not None and share.low <= float(np.mean(met)) <= share.high
        always &= held or share is None
    return Outcome(share is not None, held, always, alike_wrong / ROUNDS)


def verdicts(lessons: int = 20) -> bool:
    """So many lessons of each kind of wording; whether the intervals hold often enough."""
    table = Table("wording", "lessons", "with a share", "held", "held at every look", "alike wrong")
    enough = True
    for kind, tell in TELLERS.items():
        with tempfile.TemporaryDirectory() as folder:
            database = open_database(f"sqlite:///{folder}/lessons.db")
            found = [lesson(database, seed, tell) for seed in range(lessons)]
            database.close()
        shown = [one for one in found if one.shown]
        held = sum(one.held for one in shown)
        always = sum(one.always for one in found)
        enough &= held >= COVERED_BAR * len(shown) and always >= COVERED_BAR * lessons
        wrong = f"{np.mean([one.alike_wrong for one in found]):.0%}"
        table.add_row(kind, str(lessons), str(len(shown)), str(held), str(always), wrong)
    Console().print(table)
    print(f"intervals hold in {COVERED_BAR:.0%} of lessons: {'met' if enough else 'NOT MET'}")
    return enough


if __name__ == "__main__":
    sys.exit(0 if verdicts(int(sys.argv[1]) if len(sys.argv) > 1 else 100) else 1)
