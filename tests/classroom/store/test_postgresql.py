"""PostgreSQL by pipelines."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database
from tellback.classroom.store.log import Kind, latest_event, writing
from tellback.classroom.store.tasks import Content, add_task
from tellback.responses import Listed
from tests.support.classroom_lessons import SENTENCES, new_lesson

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often something waited for the server, by what."""
    found: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        plain = getattr(owner, name)

        def counted(self: Any, *args: Any, **options: Any) -> Any:
            found[name] += 1
            return plain(self, *args, **options)

        monkeypatch.setattr(owner, name, counted)

    count(psycopg.Pipeline, "sync")
    count(psycopg.Connection, "commit")
    count(psycopg.Connection, "rollback")
    return found


def test_asking_waits_twice_and_describing_three_times(
    database: Database, waits: Counter[str]
) -> None:
    learner = Learner(database, new_lesson(database, SENTENCES))
    learner.ask("left", Listed(np.eye(3)), Content(), "robot")  # a new connection
    waits.clear()
    learner.ask("left", Listed(np.eye(3)), Content(), "robot")
    assert waits == {"sync": 1, "commit": 1}
    waits.clear()
    learner.describe(1, "ann", "right", anyones=True)
    assert waits == {"sync": 2, "commit": 1}
    assert learner.agent.learned == 1


def test_an_error_of_a_statement_that_was_sent_later_rolls_all_back(database: Database) -> None:
    lesson = new_lesson(database, SENTENCES)

    def write_one_task_twice() -> None:
        with writing(database, lesson.id) as log:
            log.append(Kind.CHECKED, {})
            for _ in range(2):
                add_task(log, 1, np.eye(3), Content())

    with pytest.raises(IntegrityError):
        write_one_task_twice()
    with database.read() as connection:
        assert latest_event(connection, lesson.id) == 0
    with writing(database, lesson.id) as log:  # the connection is as good as before
        assert log.append(Kind.CHECKED, {}) == 1


def test_statements_are_parsed_once_and_that_survives_transactions_that_fail(
    database: Database,
) -> None:
    lesson = new_lesson(database, SENTENCES)
    for number in range(1, 7):
        with suppress(ZeroDivisionError), writing(database, lesson.id) as log:
            log.append(Kind.CHECKED, {})
            add_task(log, number, np.eye(3), Content())
            if number % 3 == 2:
                raise ZeroDivisionError
            prepared = text("SELECT statement FROM pg_prepared_statements")
            found = log.connection.execute(prepared).scalars().all()
            assert sorted(" ".join(one.split()[:3]) for one in found) == [
                "INSERT INTO events",
                "INSERT INTO tasks",
                "UPDATE lessons SET",
            ]
    with database.read() as connection:
        assert latest_event(connection, lesson.id) == 4
