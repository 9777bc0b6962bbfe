"""Lessons to try things in."""

from __future__ import annotations

import numpy as np

from tellback.agents import Greedy
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database
from tellback.classroom.store.descriptions import describe
from tellback.classroom.store.lessons import LessonRow, create_lesson
from tellback.classroom.store.log import writing
from tellback.classroom.store.tasks import Content
from tellback.matching import Same
from tellback.models import Keywords
from tellback.responses import Listed

SENTENCES = Definition(dim=3, agent=Greedy(model=Keywords(waves=0)), match=Same())


def new_lesson(database: Database, definition: Definition = SENTENCES) -> LessonRow:
    with database.write() as connection:
        return create_lesson(connection, "a lesson", definition.to_data())


def taught(database: Database, learner: Learner, count: int, seed: int = 0) -> None:
    """Ask and describe some rounds."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        features = rng.random((4, 3))
        asked = learner.ask("go left", Listed(features), Content(), "robot")
        said = f"went {'left' if features[asked.choice.response][0] > 0.5 else 'right'}"
        with writing(database, learner.lesson) as log:
            describe(log, asked.number, "ann", said, Same(), anyones=True)
    learner.catch_up()
