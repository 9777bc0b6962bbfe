"""Backups: one file with everything but sessions, from either kind of database and for either.

The file is a SQLite database with the tables of this version. A classroom on SQLite can be moved to
PostgreSQL by it, and an old backup is migrated when it is restored.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import insert, select

from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.tables import (
    accounts,
    leases,
    lessons,
    login_attempts,
    metadata,
    sessions,
)
from tellback.errors import TellbackError

LEFT_OUT = {sessions, leases, login_attempts}
"""What must not come back: an ended session, above all."""

AT_ONCE = 500


def back_up(database: Database, path: Path) -> int:
    """Write all rows to a new file, as of one moment. Returns how many.

    Others may read and write meanwhile. The file is whole or absent, and only its owner may read
    it: it has the digests of tokens and passwords, and the secrets of webhooks.
    """
    if path.exists():
        raise TellbackError(f"There is a file {path} already: a backup overwrites nothing.")
    if not path.parent.is_dir():  # a disk may not be mounted: a backup must not be elsewhere
        raise TellbackError(f"There is no folder {path.parent}: a backup makes none.")
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=path.parent) as folder:
        file = Path(folder) / "backup.db"
        copy = open_database(f"sqlite:///{file}")
        try:
            count = _copy(database, copy)
            copy.scrub()  # all of it is in the one file now
        finally:
            copy.close()
        file.chmod(0o600)
        with file.open("rb") as written:
            os.fsync(written.fileno())
        file.replace(path)
    return count


@contextmanager
def opened_backup(path: Path) -> Iterator[Database]:
    """A copy of a backup, migrated; an error if there is no such file, or it is not whole."""
    _demand_whole(path)
    with tempfile.TemporaryDirectory(prefix="tellback-") as folder:
        source = open_database(f"sqlite:///{shutil.copy(path, folder)}", create=False)
        try:
            yield source
        finally:
            source.close()


def _demand_whole(path: Path) -> None:
    if not path.is_file():
        raise TellbackError(f"There is no backup {path}.")
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("SELECT id FROM lessons LIMIT 1")
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        raise TellbackError(f"{path} is no backup: {error}.") from error
    if found != "ok":
        raise TellbackError(f"{path} is damaged: {found}")


def restore(source: Database, database: Database) -> int:
    """Copy all rows of a backup into a database without lessons and accounts. Returns how many."""
    with database.read() as connection:
        for table in (lessons, accounts):
            if connection.execute(select(table.c.id).limit(1)).first() is not None:
                raise TellbackError(
                    f"The database {database} has {table.name} already: restore into an empty one."
                )
    return _copy(source, database)


def _copy(source: Database, target: Database) -> int:
    count = 0
    with source.read() as reading, target.write() as connection:
        for table in metadata.sorted_tables:
            if table in LEFT_OUT:
                continue
            with reading.execute(select(table).execution_options(yield_per=AT_ONCE)) as rows:
                for page in rows.mappings().partitions():
                    connection.execute(insert(table), [dict(row) for row in page])
                    count += len(page)
    return count
