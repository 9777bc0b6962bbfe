"""The database and its migrations."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from tellback.classroom.learning.learner import Learner
from tellback.classroom.store import database as store_database
from tellback.classroom.store import migrate
from tellback.classroom.store.database import Database, DatabaseFailure, open_database
from tellback.classroom.store.descriptions import describe
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Kind, read_events, writing
from tellback.classroom.store.rounds import find_round
from tellback.classroom.store.tables import metadata
from tellback.classroom.store.tasks import Content
from tellback.errors import SettingError, TellbackError, UnknownNameError
from tellback.matching import MatchSpec, Same
from tellback.responses import Listed
from tellback.similarity import Similar
from tests.support.classroom_lessons import SENTENCES, new_lesson

LATER = """
import sqlalchemy as sa
from alembic import op

revision = "9000"
down_revision = "{newest}"


def upgrade():
    op.create_table("later", sa.Column("number", sa.Integer()))
"""
UNDO = {
    "0004": [
        "DROP TABLE items",
        "ALTER TABLE rounds DROP COLUMN part",
        "ALTER TABLE lessons DROP COLUMN archived",
    ],
    "0003": ["DROP TABLE login_attempts"],
    "0002": ["DROP TABLE seen"],
}
"""How to come from the tables of a version to those of the version before."""


def test_a_new_database_has_the_tables_that_the_code_expects(database: Database) -> None:
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_database_of_an_older_version_is_migrated(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = shutil.copytree(migrate.MIGRATIONS, tmp_path / "migrations")
    newest = ScriptDirectory(str(migrate.MIGRATIONS)).get_current_head()
    (migrations / "versions" / "9000_test.py").write_text(LATER.format(newest=newest))
    monkeypatch.setattr(migrate, "MIGRATIONS", migrations)
    for _ in range(2):  # the second time there is nothing to do
        migrated = open_database(database_url)
        with migrated.read() as connection:
            assert connection.execute(text("SELECT number FROM later")).all() == []
        migrated.close()


def test_a_database_of_the_first_version_gets_the_tables_of_the_newest(
    database: Database, database_url: str
) -> None:
    """Verdicts that it had by comparing words become unknown; those by equality stay."""
    by_words = create_old_lesson(database, Similar())
    by_equality = create_old_lesson(database, Same())
    with database.write() as connection:
        for statement in (*UNDO["0004"], *UNDO["0003"], *UNDO["0002"]):
            connection.execute(text(statement))
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    migrated = open_database(database_url)
    with migrated.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        for lesson, known in ((by_words, None), (by_equality, True)):
            assert find_round(connection, lesson, 1).matched is known
            (told,) = read_events(connection, lesson, kinds=[Kind.DESCRIBED])
            assert told.data["matched"] is known
    migrated.close()


def test_a_lesson_whose_model_has_a_newer_version_learns_its_log_anew(database: Database) -> None:
    id = create_old_lesson(database, Same())
    with database.read() as connection:
        lesson = find_lesson(connection, id)
    agent = dict(lesson.definition["agent"])
    for older in (agent | {"version": 0}, agent | {"model": agent["model"] | {"version": 0}}):
        old = lesson._replace(definition=lesson.definition | {"agent": older})
        assert Learner(database, old).agent.learned == 1


def create_old_lesson(database: Database, match: MatchSpec) -> str:
    lesson = new_lesson(database, replace(SENTENCES, match=match))
    Learner(database, lesson).ask("left", Listed(np.eye(3)), Content(), "robot")
    with writing(database, lesson.id) as log:
        describe(log, 1, "ann", "left", Same(), anyones=True)
    return lesson.id


def test_a_database_of_any_version_is_migrated_to_the_tables_that_the_code_expects(
    database: Database, database_url: str
) -> None:
    script = ScriptDirectory(str(migrate.MIGRATIONS))
    undone: list[str] = []
    for version in [one.revision for one in script.walk_revisions()][:-1]:  # the newest first
        undone += UNDO[version]
        with database.write() as connection:
            for statement in undone:
                connection.execute(text(statement))
            before = script.get_revision(version).down_revision
            connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": before})
        copy = open_database(database_url)
        with copy.read() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        copy.close()


def test_a_database_of_a_newer_version_is_refused(database: Database, database_url: str) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(TellbackError, match="newer tellback"):
        open_database(database_url)


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://localhost/x", "sqlite://", "sqlite:///:memory:"]
)
def test_a_database_that_cannot_be_used_is_refused_with_what_can(url: str) -> None:
    with pytest.raises(SettingError, match="sqlite"):
        open_database(url)


def test_a_database_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(TellbackError, match="cannot be used") as refused:
        open_database("postgresql://ann:secret@127.0.0.1:9/lessons")
    assert "secret" not in str(refused.value)


def test_what_is_committed_is_moved_into_the_database_by_a_thread_and_not_by_a_commit(
    tmp_path: Path,
) -> None:
    file = tmp_path / "classroom.db"
    database = open_database(f"sqlite:///{file}")
    database.move_log()
    before = file.read_bytes()
    lesson = new_lesson(database)
    for _ in range(3):  # SQLite's own limit is 1,000 pages of 4 KB
        with writing(database, lesson.id) as log:
            log.append(Kind.FLAGGED, {"note": "x" * 3_000_000})
    assert file.read_bytes() == before
    database.move_log()
    copy = shutil.copy(file, tmp_path / "copy.db")  # without the log
    moved = open_database(f"sqlite:///{copy}")
    with moved.read() as connection:
        assert len(list(read_events(connection, lesson.id))) == 3
    moved.close()
    database.close()


def test_a_write_waits_for_another_process_and_is_told_when_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'lessons.db'}")
    other = sqlite3.connect(tmp_path / "lessons.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    waits = threading.Event()

    def wait(seconds: float) -> None:
        waits.set()
        time.sleep(seconds)

    monkeypatch.setattr(
        store_database, "time", SimpleNamespace(monotonic=time.monotonic, sleep=wait)
    )
    end = threading.Thread(target=lambda: (waits.wait(), other.execute("COMMIT")))
    end.start()
    with database.write() as connection:
        assert waits.is_set()
        assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 30_000
    end.join()
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(store_database, "BUSY_SECONDS", 0)
    with pytest.raises(DatabaseFailure, match="locked"), database.write():
        pass
    other.close()
    with database.write():
        pass
    database.close()


def test_only_its_owner_may_read_a_new_file(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        database = open_database(f"sqlite:///{tmp_path}/new/classroom.db")
        with database.write() as connection:
            connection.execute(text("SELECT 1"))
        modes = {one.suffix: one.stat().st_mode & 0o777 for one in (tmp_path / "new").iterdir()}
        database.close()
    finally:
        os.umask(before)
    assert modes == {".db": 0o600, ".db-wal": 0o600, ".db-shm": 0o600}


def test_a_database_that_is_not_there_is_made_only_by_whoever_asks_for_it(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "lessons.db"
    with pytest.raises(UnknownNameError, match="no database"):
        open_database(f"sqlite:///{file}", create=False)
    assert not file.parent.exists()
    other = tmp_path / "notes.db"
    with closing(sqlite3.connect(other)) as notes:
        notes.execute("CREATE TABLE notes (text)")
    with pytest.raises(UnknownNameError, match="no classroom"):
        open_database(f"sqlite:///{other}", create=False)
    with closing(sqlite3.connect(other)) as notes:
        assert notes.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    open_database(f"sqlite:///{file}").close()
    open_database(f"sqlite:///{file}", create=False).close()
