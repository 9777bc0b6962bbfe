"""A classroom goes on when something in it is damaged or fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, update

from tellback.classroom.learning import background_jobs
from tellback.classroom.learning.background_jobs import BackgroundJobs
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.settings import Settings
from tellback.classroom.store.checks import round_to_check
from tellback.classroom.store.claims import claim_round
from tellback.classroom.store.descriptions import describe
from tellback.classroom.store.log import writing
from tellback.classroom.store.tables import answers, checkpoints
from tellback.classroom.store.tasks import Content
from tellback.classroom.web.classroom import Classroom
from tellback.errors import UnknownNameError
from tellback.matching import Same
from tellback.responses import Listed
from tests.support.patience import PATIENCE
from tests.support.states import same_state


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Classroom]:
    room = Classroom(Settings(f"sqlite:///{tmp_path / 'room.db'}", accounts=False))
    yield room
    room.database.close()


def a_lesson(room: Classroom, rounds: int = 0, **settings: float) -> str:
    """A lesson with some rounds that nobody has described."""
    lesson = room.create("x", Definition(dim=2, **settings)).id  # type: ignore[arg-type]
    for i in range(rounds):
        room.learner(lesson).ask(f"go {i}", Listed([[0.0, 1.0], [1.0, 0.5]]), Content(), "prog")
    return lesson


def told(room: Classroom, lesson: str, number: int, account: str = "ada") -> None:
    with writing(room.database, lesson) as log:
        describe(log, number, account, f"went {number}", Same(), anyones=True)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"garbage", b"\x93NUMPY\x01\x00", "half"])
def test_a_damaged_checkpoint_is_passed_over(
    room: Classroom, monkeypatch: pytest.MonkeyPatch, damage: bytes | str
) -> None:
    monkeypatch.setattr(background_jobs, "CHECKPOINT_EVERY", 1)
    lesson = a_lesson(room, 3)
    going = BackgroundJobs(room.database, room.learner)
    going.turn()
    for number in (1, 2, 3):
        told(room, lesson, number)
    going.turn()
    with room.database.write() as connection:
        kept = connection.execute(checkpoints.select()).one()
        state = bytes(kept.state)
        bad = state[: len(state) // 2] if isinstance(damage, str) else damage
        connection.execute(update(checkpoints).values(state=bad))
    before = room.learner(lesson)
    room.forget(lesson)
    after = room.learner(lesson)
    assert after is not before
    assert after.agent.learned == 3
    assert same_state(after.agent.state(), before.agent.state())


def test_a_lesson_that_fails_keeps_no_other_waiting(
    room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_jobs, "CHECKPOINT_EVERY", 1)
    bad, good = a_lesson(room, 1), a_lesson(room, 1)

    def learner(lesson: str) -> Learner:
        if lesson == bad:
            raise ZeroDivisionError("that nobody foresaw")
        return room.learner(lesson)

    going = BackgroundJobs(room.database, learner)
    going.turn()
    told(room, bad, 1)
    told(room, good, 1)
    going.turn()
    with room.database.read() as connection:
        kept = {row.lesson for row in connection.execute(checkpoints.select())}
    assert kept == {good}


def test_background_jobs_go_on_after_an_unexpected_error(
    room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_jobs, "LOOK_SECONDS", 0.01)
    turns = threading.Semaphore(0)

    def fails() -> None:
        turns.release()
        raise ZeroDivisionError

    going = BackgroundJobs(room.database, room.learner, also=(fails,))
    going.thread.start()
    assert all(turns.acquire(timeout=PATIENCE) for _ in range(3))
    going.thread.stop()


def test_names_of_lessons_that_do_not_exist_leave_nothing_behind(room: Classroom) -> None:
    for i in range(50):
        with pytest.raises(UnknownNameError):
            room.learner(f"no-{i}")
    assert room._opening == {}


def test_answers_to_old_keys_are_forgotten(room: Classroom) -> None:
    row = {"account": "a", "request": "r", "answer": "{}"}
    with room.database.write() as connection:
        connection.execute(delete(answers))
        connection.execute(insert(answers), row | {"key": "old", "at": 0.0})
        connection.execute(insert(answers), row | {"key": "new", "at": time.time()})
    room._jobs.turn()
    with room.database.read() as connection:
        assert [one.key for one in connection.execute(answers.select())] == ["new"]


def test_whoever_holds_a_second_description_gets_that_one_again(room: Classroom) -> None:
    lesson = a_lesson(room, 2, second_share=1.0)
    told(room, lesson, 2)
    until = time.time() + PATIENCE
    with room.database.write() as connection:
        first = claim_round(connection, lesson, "ben", until)
    told(room, lesson, 1)
    with room.database.write() as connection:
        again = claim_round(connection, lesson, "ben", until)
    assert first is not None
    assert again is not None
    assert (first.number, again.number) == (2, 2)


def test_who_may_describe_a_response_too_is_not_told_what_the_first_said(room: Classroom) -> None:
    lesson = a_lesson(room, 1, second_share=1.0)
    dim = room.learner(lesson).definition.facts.dim
    told(room, lesson, 1)
    with room.database.read() as connection:
        assert round_to_check(connection, lesson, "ben", dim) is None
    with room.database.write() as connection:
        claim_round(connection, lesson, "ben", time.time() + PATIENCE)
    told(room, lesson, 1, "ben")
    with room.database.read() as connection:
        assert round_to_check(connection, lesson, "cat", dim) == (1, "went 1")
