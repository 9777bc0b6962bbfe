"""The agent of a lesson, rebuilt from the log."""

from __future__ import annotations

import time

import numpy as np

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.database import Database
from tellback.classroom.store.descriptions import describe, withdraw
from tellback.classroom.store.log import writing
from tellback.classroom.store.tasks import Content
from tellback.matching import Same
from tellback.responses import Listed
from tellback.undo_log import SNAPSHOT_EVERY
from tests.support.classroom_lessons import new_lesson, taught
from tests.support.states import same_state


def test_two_learners_of_one_lesson_agree_to_the_last_bit(database: Database) -> None:
    lesson = new_lesson(database)
    one, other = Learner(database, lesson), Learner(database, lesson)
    for learner, seed in ((one, 0), (other, 1), (one, 2)):
        taught(database, learner, 3, seed)
    one.catch_up()
    other.catch_up()
    assert one.agent.learned == 9
    assert same_state(one.agent.state(), other.agent.state())
    assert one.agent.active == other.agent.active


def test_what_is_undone_was_never_taught_however_long_ago(database: Database) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    taught(database, learner, 2 * SNAPSHOT_EVERY + 5)
    for number in (2 * SNAPSHOT_EVERY + 5, SNAPSHOT_EVERY + 1, 3):
        with writing(database, lesson.id) as log:
            withdraw(log, number, "ann", time.time() + 9, anyones=False)
        learner.catch_up()
        assert same_state(learner.agent.state(), Learner(database, lesson).agent.state())
    assert learner.agent.learned == 2 * SNAPSHOT_EVERY + 2
    with writing(database, lesson.id) as log:
        describe(log, 3, "ann", "went nowhere", Same())
    learner.catch_up()
    assert list(learner.agent.active)[-1] == 3  # said last, so taught last
    assert same_state(learner.agent.state(), Learner(database, lesson).agent.state())


def test_a_description_that_the_model_refuses_stays_in_the_log_and_does_no_harm(
    database: Database,
) -> None:
    lesson = new_lesson(database, Definition(dim=3, instructions=4))
    learner = Learner(database, lesson)
    asked = learner.ask(1, Listed(np.eye(3)), Content(), "robot")
    with writing(database, lesson.id) as log:
        describe(log, asked.number, "ann", 9, Same(), anyones=True)  # beyond the table
    learner.catch_up()
    assert same_state(learner.agent.state(), LessonAgent(learner.definition).state())
    assert learner.agent.was_taught(asked.number)
