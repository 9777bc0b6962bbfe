"""Checkpoints of agents."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import func, select, update

from tellback.classroom.learning import checkpoints as kept
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.checkpoints import KEPT
from tellback.classroom.store.database import Database
from tellback.classroom.store.descriptions import withdraw
from tellback.classroom.store.log import writing
from tellback.classroom.store.tables import checkpoints
from tellback.roles import State
from tests.support.classroom_lessons import new_lesson, taught
from tests.support.states import same_state


def test_a_learner_that_starts_from_a_checkpoint_is_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    taught(database, learner, 10)
    learner.keep_checkpoint()
    taught(database, learner, 3, seed=1)
    started: list[int] = []
    start = LessonAgent.start_from

    def noted(
        agent: LessonAgent, active: dict[int, int], state: State, *unlearned: list[int]
    ) -> None:
        started.append(len(active))
        start(agent, active, state, *unlearned)

    monkeypatch.setattr(LessonAgent, "start_from", noted)
    again = Learner(database, lesson)
    assert started == [10]
    assert same_state(again.agent.state(), learner.agent.state())


def test_a_checkpoint_is_not_used_that_knows_what_was_withdrawn_or_is_damaged(
    database: Database,
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    taught(database, learner, 6)
    learner.keep_checkpoint()
    with writing(database, lesson.id) as log:
        withdraw(log, 2, "ann", time.time() + 9, anyones=False)
    learner.catch_up()
    assert same_state(Learner(database, lesson).agent.state(), learner.agent.state())
    taught(database, learner, 1)
    learner.keep_checkpoint()
    with writing(database, lesson.id) as log:
        log.connection.execute(update(checkpoints).values(state=b"PK not a state"))
    assert same_state(Learner(database, lesson).agent.state(), learner.agent.state())


def test_checkpoints_of_other_code_are_not_used_and_old_ones_go(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    for seed in range(KEPT + 2):
        taught(database, learner, 1, seed)
        learner.keep_checkpoint()
    with database.read() as connection:
        count = connection.execute(select(func.count()).select_from(checkpoints)).scalar_one()
    assert count == KEPT
    monkeypatch.setattr(kept, "_source", lambda: "another")
    monkeypatch.setattr(LessonAgent, "start_from", lambda *_: pytest.fail("of other code"))
    assert same_state(Learner(database, lesson).agent.state(), learner.agent.state())
