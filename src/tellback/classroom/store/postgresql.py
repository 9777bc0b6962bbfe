"""Connections to PostgreSQL: snapshots for reading, and pipelines for writing.

A round trip takes as long as most statements, and under load much longer: two processes must be
woken. So connections that write are in libpq's pipeline mode. ``BEGIN`` is sent with the first
statement, and statements with the option ``later`` with the next one, or with ``COMMIT``. Their
errors are raised there.
"""

from __future__ import annotations

import math
import time
from contextlib import nullcontext, suppress
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError

TRUSTED_SECONDS = 1.0
"""A connection used less than this long ago is not tested before use."""

NEVER = 2**31
"""More often than the driver will see any statement."""

CONNECTIONS, MORE = 10, 15
"""Connections of each kind that a process keeps, and opens besides if it must."""

LATER = {"later": True}
"""Options of a statement whose outcome nobody reads."""

PREPARED = {"prepared": True}
"""Options of a statement that a connection has parsed and planned once: without a choice of plans,
or else the one for the empty tables of the first minute would be kept."""

ADD = LATER | PREPARED
"""Options of a plain insert."""


def reading_engine(url: Any) -> Engine:
    """Connections whose transactions read one snapshot."""
    return _engine(url, isolation_level="REPEATABLE READ")


def writing_engine(url: Any) -> Engine:
    """Connections in pipeline mode, which have no cursors on the server."""
    # The driver would wait for the answer to its own BEGIN: here ``begin`` sends it.
    engine = _engine(url, isolation_level="AUTOCOMMIT", pool_reset_on_return=None)
    engine.dialect.supports_server_side_cursors = False

    pipelines: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by the driver's connection

    @event.listens_for(engine, "checkout")  # not "connect", after which the dialect looks around
    def prepare(connection: Any, record: Any, _: object) -> None:
        if connection not in pipelines:
            record.info["mode"] = connection.pipeline()  # referred to: else it would end
            pipelines[connection] = record.info["mode"].__enter__()

    @event.listens_for(engine, "close")
    def leave(_: object, record: Any) -> None:
        with suppress(engine.dialect.loaded_dbapi.Error):  # the connection may be broken
            record.info.pop("mode", nullcontext()).__exit__(None, None, None)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN", execution_options=LATER)

    def sync(cursor: Any, context: Any) -> bool:
        """Wait for the outcome, unless that has time."""
        if cursor.connection in pipelines and not context.execution_options.get("later"):
            pipelines[cursor.connection].sync()
        return True

    def execute(cursor: Any, statement: str, parameters: Any, context: Any) -> bool:
        prepare = context.execution_options.get("prepared", False)
        cursor.execute(statement, parameters, prepare=prepare)
        return sync(cursor, context)

    def execute_many(cursor: Any, statement: str, parameters: Any, context: Any) -> bool:
        cursor.executemany(statement, parameters)
        return sync(cursor, context)

    event.listen(engine, "do_execute", execute)
    event.listen(engine, "do_executemany", execute_many)

    @event.listens_for(engine, "reset")
    def reset(connection: Any, *_: object) -> None:
        if connection.info.transaction_status:  # else a rollback would cost a round trip
            connection.rollback()

    return engine


def _engine(url: Any, **options: Any) -> Engine:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=CONNECTIONS,
        max_overflow=MORE,
        connect_args={"prepare_threshold": NEVER},  # but for those that are ``PREPARED``
        **options,
    )

    @event.listens_for(engine, "checkin")
    def note_time(_: object, record: Any) -> None:
        record.info["used"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping(connection: Any, record: Any, _: object) -> None:
        # After a restart of the server the connection is replaced. It is not tested if it was just
        # used: a test takes as long as a statement.
        if time.monotonic() - record.info.get("used", math.inf) > TRUSTED_SECONDS:
            try:
                connection.execute("SELECT 1").fetchone()
                connection.rollback()
            except engine.dialect.loaded_dbapi.Error as error:
                raise DisconnectionError from error

    return engine
