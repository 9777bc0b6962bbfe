"""A database, and the transactions that everything else is done in."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DisconnectionError, OperationalError, SQLAlchemyError

from tellback.errors import SettingError, TellbackError
from tellback.extras import from_extra

__all__ = ["Connection", "Database", "DatabaseFailure", "open_database"]

DatabaseFailure = OperationalError
"""Raised when the database does not answer. Other rooms know it, but not SQLAlchemy."""

BUSY_SECONDS = 30
"""How long a write waits for the writes of other processes."""

TRUSTED_SECONDS = 1.0
"""For how long a connection is known to be good."""

WRITES = "writes"


class Database:
    """SQLite (in WAL mode, synced at every commit) or PostgreSQL.

    Parameters
    ----------
    url : str
        ``sqlite:///path/to/file`` or ``postgresql://user@host/name``.

    Notes
    -----
    What is acknowledged was committed, and what was committed survives ``kill -9`` and a loss of
    power. All that is done to a lesson goes through ``lock_lesson`` (``store.lessons``), so that
    its events are numbered in the order in which they become visible, without gaps.
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self.sqlite = self.engine.dialect.name == "sqlite"
        self._snapshots = (
            self.engine
            if self.sqlite
            else self.engine.execution_options(isolation_level="REPEATABLE READ")
        )
        # SQLite has one writer at a time. Threads of this process queue here, where they are
        # woken in time, and only processes meet at the file, where they would poll.
        self._queue = threading.Lock() if self.sqlite else nullcontext()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to look things up with; what it sees stays the same."""
        with self._snapshots.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all of it, or nothing if an error leaves it."""
        with self._queue, self.engine.connect() as plain:
            connection = plain.execution_options(**{WRITES: True})
            with connection.begin():
                yield connection

    def answers(self) -> bool:
        """Whether the database answers."""
        try:
            with self.read() as connection:
                connection.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True

    def scrub(self) -> bool:
        """Have nothing left in SQLite's files of what was deleted; False if readers are in the way.

        The write-ahead log still has the pages as they were. PostgreSQL overwrites what was
        deleted in its own time (vacuum).
        """
        if not self.sqlite:
            return True
        raw = self.engine.raw_connection()
        try:
            busy, _, _ = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
        finally:
            raw.close()

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def __str__(self) -> str:
        return self.engine.url.render_as_string(hide_password=True)


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SettingError(
            f"database must be a URL such as sqlite:///lessons.db or "
            f"postgresql://user@host/name, not {url!r}."
        ) from error
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        return _sqlite(parsed)
    if backend in ("postgresql", "postgres"):
        from_extra("postgres", "psycopg", "A PostgreSQL database")
        return _postgresql(parsed)
    raise SettingError(f"database must be of sqlite or postgresql, not {backend!r}.")


def _postgresql(url: Any) -> Engine:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=20,
        max_overflow=30,
        isolation_level="READ COMMITTED",
        # A plan that is kept is one for the empty tables of the first minute.
        connect_args={"prepare_threshold": None},
    )

    @event.listens_for(engine, "checkin")
    def note_time(_: object, record: Any) -> None:
        record.info["used"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def knock(connection: Any, record: Any, _: object) -> None:
        # A server that was restarted is met with a new connection. Those just used are trusted:
        # to knock each time would take as long as a statement.
        if time.monotonic() - record.info.get("used", math.inf) > TRUSTED_SECONDS:
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error as error:
                raise DisconnectionError from error

    return engine


def _sqlite(url: Any) -> Engine:
    file = url.database
    if not file or file == ":memory:":
        raise SettingError("A classroom keeps its lessons in a file: sqlite:///path/to/file.")
    Path(file).resolve().parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        url.set(drivername="sqlite+pysqlite"),
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        pool_size=50,
        max_overflow=50,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where we say, as we say
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and writes later could be refused half-way.
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def open_database(url: str) -> Database:
    """A database with the tables of this version, made or brought up to date if need be."""
    from tellback.classroom.store.migrate import migrate

    database = Database(url)
    try:
        migrate(database)
    except TellbackError:
        database.close()
        raise
    except OperationalError as error:
        database.close()
        reason = str(error.orig).strip().splitlines()[0] if error.orig else "it does not answer"
        raise TellbackError(f"The database {database} cannot be used: {reason}.") from error
    return database
