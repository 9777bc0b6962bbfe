"""One lesson in a process."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tellback.classroom.learning import learner as module
from tellback.classroom.learning.demonstration import content_of, demonstration
from tellback.classroom.learning.learner import Learner
from tellback.classroom.settings import Settings
from tellback.classroom.store.database import Database
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.idempotency import KeyedRequest
from tellback.classroom.store.log import read_events
from tellback.classroom.store.tasks import Content, find_pictures
from tellback.classroom.web.classroom import Classroom
from tellback.responses import Listed
from tellback.roles import Task, WorldSpec
from tests.support.classroom_lessons import SENTENCES, new_lesson, taught
from tests.support.states import same_state


def failing(*_: object) -> None:
    raise RuntimeError("half-way")


def test_a_transaction_that_fails_leaves_nothing_and_the_next_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    monkeypatch.setattr("tellback.classroom.learning.learner.add_answer", failing)
    request = KeyedRequest("robot", "key", "digest")
    with pytest.raises(RuntimeError, match="half-way"):
        learner.ask("go left", Listed(np.eye(3)), Content(), "robot", request)
    with database.read() as connection:
        assert not list(read_events(connection, lesson.id))
    taught(database, learner, 1)
    with database.read() as connection:
        events = list(read_events(connection, lesson.id))
    assert [(event.seq, event.round) for event in events] == [(1, 1), (2, 1)]


def test_an_agent_that_was_dropped_from_memory_is_rebuilt(database_url: str) -> None:
    room = Classroom(Settings(database_url, accounts=False))
    lesson = room.create("a lesson", SENTENCES)
    taught(room.database, room.learner(lesson.id), 3)
    before = room.learner(lesson.id)
    assert room.learner(lesson.id) is before
    room.forget(lesson.id)
    after = room.learner(lesson.id)
    assert after is not before
    assert same_state(after.agent.state(), before.agent.state())
    room.close()


def test_a_round_whose_number_is_taken_meanwhile_is_drawn_again_outside_of_any_transaction(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other learner opens its round while pictures are drawn: a transaction would lock it."""
    lesson = new_lesson(database, demonstration())
    one, other = Learner(database, lesson), Learner(database, lesson)
    drawn: list[Content] = []

    def noted(task: Task, world: WorldSpec) -> Content:
        drawn.append(content_of(task, world))
        return drawn[-1]

    def interrupted(task: Task, world: WorldSpec) -> Content:
        monkeypatch.setattr(module, "content_of", noted)
        assert other.ask_from_world("ben").number == 1
        return content_of(task, world)

    monkeypatch.setattr(module, "content_of", interrupted)
    claimed = one.claim("ann", time.time() + 60)
    assert claimed is not None
    assert claimed.task.round == 2
    assert len(drawn) == 2
    with database.read() as connection:
        assert find_pictures(connection, lesson.id, 2) == drawn[-1].images
        events = list(read_events(connection, lesson.id))
    assert [(event.seq, event.round) for event in events] == [(1, 1), (2, 2)]


def test_a_claim_shows_the_response_and_how_many_pictures_there_are(database: Database) -> None:
    learner = Learner(database, new_lesson(database))
    assert learner.claim("ann", time.time() + 60) is None
    texts = ["one", "two", "three"]
    content = Content("Where it stood.", texts, [b"1", b"2", b"3"])
    opened = learner.ask("go left", Listed(np.eye(3)), content, "robot")
    claimed = learner.claim("ann", time.time() + 60)
    assert claimed is not None
    assert claimed.response == opened.choice.response
    assert claimed.task[2:6] == ("Where it stood.", texts, 3, None)
    assert claimed.task.candidates(3) == 3
    assert learner.claim("ben", time.time() + 60) is None


def test_a_request_that_comes_again_opens_no_other_round(database: Database) -> None:
    learner = Learner(database, new_lesson(database))
    request = KeyedRequest("robot", "key", "digest")
    assert learner.answered(request) is None
    first = learner.ask("go left", Listed(np.eye(3)), Content(), "robot", request)
    for again in (
        learner.answered(request),
        learner.ask("go left", Listed(np.eye(3)), Content(), "robot", request),
    ):
        assert again is not None
        assert (again.number, again.version) == (first.number, first.version)
        assert again.choice.response == first.choice.response
    with pytest.raises(ConflictError, match="another request"):
        learner.answered(KeyedRequest("robot", "key", "another"))
