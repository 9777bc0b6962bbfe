"""The exam of a lesson."""

from __future__ import annotations

import numpy as np
from sqlalchemy import select

from tellback.classroom.learning.background_jobs import BackgroundJobs
from tellback.classroom.learning.demonstration import build_simulation, demonstration
from tellback.classroom.learning.exam import Exam
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.database import Database
from tellback.classroom.store.tables import progress
from tellback.responses import Listed
from tellback.streams import Streams
from tellback.worlds import Paraphrases
from tellback.worlds.paraphrases import ParaphrasesTeacher
from tests.support.classroom_lessons import SENTENCES, new_lesson


def test_a_demonstration_lifts_held_out_requests_from_chance_to_four_in_five(
    database: Database,
) -> None:
    definition = demonstration(seed=11)
    lesson = new_lesson(database, definition)
    learner = Learner(database, lesson)
    jobs = BackgroundJobs(database, lambda _: learner)
    jobs.turn()
    simulation = build_simulation(definition)
    assert simulation is not None
    world, tasks = simulation.world, Streams(definition.seed).stream("world")
    teacher, rng = ParaphrasesTeacher(), np.random.default_rng(3)
    for _ in range(60):
        asked = learner.ask_from_world("ann")
        task = world.task(asked.number, (), tasks.at(asked.number))
        said = teacher.describe(task.context, asked.choice.response, rng)
        learner.describe(asked.number, "ann", said, anyones=True)
    again, effect = learner.describe(asked.number, "ann", said, anyones=True, effect=True)
    assert not again.new
    assert effect is not None
    assert effect.changes == []
    jobs.turn()
    assert effect.learned == 60
    assert effect.right is not None
    assert effect.right >= 80
    with database.read() as connection:
        points = connection.execute(
            select(progress.c.described, progress.c.right).order_by(progress.c.seq)
        ).all()
    assert points[-1] == (60, effect.right)
    assert points[0].described == 0
    assert 8 <= points[0].right <= 35  # by chance 20


def test_held_out_requests_are_never_asked() -> None:
    definition = demonstration()
    assert isinstance(definition.world, Paraphrases)
    from tellback.classroom.learning.exam import exam_of

    simulation = build_simulation(definition)
    assert simulation is not None
    exam = exam_of(definition, simulation)
    stream = Streams(definition.seed).stream("world")
    asked = [simulation.world.task(t, (), stream.at(t)) for t in range(1, 201)]
    scenes = {(task.context, task.instruction) for task in asked}
    assert not any((task.context, task.instruction) in scenes for task in exam.tasks)


def test_an_exam_without_a_referee_judges_nothing() -> None:
    from tellback.classroom.learning.exam import LATEST
    from tellback.roles import Task

    exam = Exam(Task(None, f"request {i}", Listed(np.eye(3))) for i in range(LATEST))
    answers = exam.answers(LessonAgent(SENTENCES))
    assert exam.right(answers) is None
    flips = exam.flips(answers, [(answer + 1) % 3 for answer in answers])
    assert len(flips) == LATEST
    assert flips[0].is_right is None
