"""The database and its transactions."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from tellback.classroom.store.postgresql import ADD, LATER, PREPARED, reading_engine, writing_engine
from tellback.errors import SettingError, TellbackError, UnknownNameError
from tellback.extras import from_extra

__all__ = [
    "ADD",
    "LATER",
    "PREPARED",
    "Connection",
    "Database",
    "DatabaseFailure",
    "open_database",
]

DatabaseFailure = OperationalError
"""Raised when the database does not answer. Other rooms know it, but not SQLAlchemy."""

BUSY_SECONDS = 30
"""Longest wait of a write for the writes of other processes."""

RETRY_SECONDS = 0.0005
"""Time after which a waiting write tries again. SQLite's own waits grow to a tenth of a second: of
two busy processes, one would find the other writing whenever it looks."""

MOST_LOG_PAGES = 10_000
"""Pages of SQLite's write-ahead log (40 MB) after which a commit moves them: only if
``Database.move_log`` does not keep up, or nobody calls it."""

WRITES = "writes"


class Database:
    """SQLite (in WAL mode, synced at every commit) or PostgreSQL.

    A committed transaction survives ``kill -9`` and a loss of power. All changes of a lesson go
    through ``writing`` (``store.log``), so that its events are numbered in the order in which they
    become visible, without gaps.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self.engine, self._snapshots = _engines(url, create)
        self.sqlite = self.engine.dialect.name == "sqlite"
        # SQLite has one writer at a time. The threads of this process queue here, where they are
        # woken at once; processes wait for each other by polling the file (``_begin_writing``).
        self._queue = threading.Lock() if self.sqlite else nullcontext()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that reads one snapshot of the database."""
        with self._snapshots.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes. An error rolls it back."""
        with self._queue, self.engine.connect() as plain:
            connection = plain.execution_options(**{WRITES: True})
            with connection.begin():
                yield connection

    def one_at_a_time(self, connection: Connection, number: int) -> None:
        """Wait until no other transaction that writes has taken this number, and take it."""
        if not self.sqlite:  # which has one transaction that writes at a time
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": number})

    def answers(self) -> bool:
        """Whether the database answers."""
        try:
            with self.read() as connection:
                connection.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True

    def move_log(self) -> None:
        """Move SQLite's write-ahead log into its database, as far as readers allow.

        SQLite would do so in every hundredth commit or so, and somebody would wait for it: twice
        for the disk, and for all pages changed since. Nobody waits for a thread that does it.
        """
        if self.sqlite:
            self._checkpoint("PASSIVE")

    def scrub(self) -> bool:
        """Remove deleted data from SQLite's write-ahead log; False if readers are in the way.

        PostgreSQL overwrites deleted rows in its own time (vacuum).
        """
        return not self.sqlite or self._checkpoint("TRUNCATE")

    def _checkpoint(self, kind: str) -> bool:
        raw = self.engine.raw_connection()
        try:
            busy, _, _ = raw.cursor().execute(f"PRAGMA wal_checkpoint({kind})").fetchone()
            return not busy
        finally:
            raw.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._snapshots.dispose()

    def __str__(self) -> str:
        return self.engine.url.render_as_string(hide_password=True)


def _engines(url: str, create: bool) -> tuple[Engine, Engine]:
    """The connections that write, and those that read."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SettingError(
            f"database must be a URL such as sqlite:///lessons.db or "
            f"postgresql://user@host/name, not {url!r}."
        ) from error
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        engine = _sqlite(parsed, create)
        return engine, engine
    if backend in ("postgresql", "postgres"):
        from_extra("postgres", "psycopg", "A PostgreSQL database")
        return writing_engine(parsed), reading_engine(parsed)
    raise SettingError(f"database must be of sqlite or postgresql, not {backend!r}.")


def _sqlite(url: Any, create: bool) -> Engine:
    file = url.database
    if not file or file == ":memory:":
        raise SettingError("A classroom keeps its lessons in a file: sqlite:///path/to/file.")
    if not create and not Path(file).is_file():
        raise UnknownNameError(f"There is no database {file}.")
    Path(file).resolve().parent.mkdir(parents=True, exist_ok=True)
    # It holds secrets: for its owner alone, as the files that SQLite makes beside it then are.
    with suppress(OSError):  # it is there; or SQLite says what is wrong
        os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    engine = create_engine(
        url.set(drivername="sqlite+pysqlite"),
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        pool_size=50,
        max_overflow=50,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin in ``begin``, below
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint={MOST_LOG_PAGES}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")  # overwrite deleted data

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and writes later could be refused in the middle.
        if connection.get_execution_options().get(WRITES):
            _begin_writing(connection)
        else:
            connection.exec_driver_sql("BEGIN")

    return engine


def _begin_writing(connection: Connection) -> None:
    """Begin a transaction that writes, when no other process is in one."""
    given_up = time.monotonic() + BUSY_SECONDS
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    try:
        while True:
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            except OperationalError as error:
                code = getattr(error.orig, "sqlite_errorcode", None)
                if code != sqlite3.SQLITE_BUSY or time.monotonic() > given_up:
                    raise
                time.sleep(RETRY_SECONDS)
            else:
                return
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={1000 * BUSY_SECONDS}")


def open_database(url: str, *, create: bool = True) -> Database:
    """Open a database and migrate its tables; ``create`` them if there are none, or refuse."""
    from tellback.classroom.store.migrate import migrate

    database = Database(url, create=create)
    try:
        migrate(database, create)
    except TellbackError:
        database.close()
        raise
    except OperationalError as error:
        database.close()
        reason = str(error.orig).strip().splitlines()[0] if error.orig else "it does not answer"
        raise TellbackError(f"The database {database} cannot be used: {reason}.") from error
    return database
