"""A backup has everything, and restores it in either kind of database."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
from sqlalchemy import select, text

from tellback.classroom.store import sessions
from tellback.classroom.store.backup import LEFT_OUT, back_up, opened_backup, restore
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.tables import metadata
from tellback.errors import TellbackError
from tests.support.api_room import API, Room, eventful, opened_room

LATER = ("seen", "login_attempts", "items")
LATER_COLUMNS = (("rounds", "part"), ("lessons", "archived"))
"""The tables that migrations have added to the first ones."""


def rows_of(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.read() as connection:
        return {
            table.name: [
                tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))
            ]
            for table in metadata.sorted_tables
            if table not in LEFT_OUT
        }


def test_a_classroom_is_restored_as_it_was_on_another_kind_of_database(
    room: Room, tmp_path: Path, database_url: str
) -> None:
    lesson = eventful(room)
    secret = sessions.create(room.inside.database, room.ids["ann"])
    file = tmp_path / "backup.db"
    count = back_up(room.inside.database, file)
    before = rows_of(room.inside.database)
    assert count == sum(map(len, before.values()))
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith((".", "backup"))] == [
        "backup.db"
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    target = open_database(database_url)
    with opened_backup(file) as source:
        assert restore(source, target) == count
        assert rows_of(target) == before
        assert sessions.find(target, secret) is None
        with pytest.raises(TellbackError, match="empty"):
            restore(source, target)
    target.close()
    restored = opened_room(database_url)
    restored.assert_rebuilt(lesson)
    # A token is valid as it was, and the lesson goes on.
    answer = restored.http.get(f"{API}/me", headers=room.ann)
    assert answer.json()["account"] == room.ids["ann"]
    restored.ask(lesson)
    restored.http.close()
    restored.inside.database.close()


def test_a_backup_of_an_older_version_is_migrated_and_stays_as_it_is(
    room: Room, tmp_path: Path
) -> None:
    file = tmp_path / "backup.db"
    back_up(room.inside.database, file)
    with sqlite3.connect(file) as old:
        for later in LATER:
            old.execute(f"DROP TABLE {later}")
        for table, column in LATER_COLUMNS:
            old.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        old.execute("UPDATE alembic_version SET version_num = '0001'")
    old.close()
    kept = file.read_bytes()
    target = open_database(f"sqlite:///{tmp_path}/new.db")
    with opened_backup(file) as source:
        restore(source, target)
    with target.read() as connection:
        for later in LATER:
            assert connection.execute(text(f"SELECT * FROM {later}")).all() == []
    target.close()
    assert file.read_bytes() == kept


def test_a_backup_overwrites_nothing_and_a_restore_needs_one(room: Room, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no backup" * 1000)
    with pytest.raises(TellbackError, match="overwrites nothing"):
        back_up(room.inside.database, file)
    for wrong in (file, tmp_path / "missing.db"):
        with pytest.raises(TellbackError, match="no backup"), opened_backup(wrong):
            pass
