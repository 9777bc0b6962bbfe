"""Attempts to sign in: a token bucket for each name and address, shared by all processes."""

from __future__ import annotations

import time
from collections.abc import Mapping

from sqlalchemy import Connection, delete, insert, select

from tellback.classroom.store.database import Database
from tellback.classroom.store.secrets import digest
from tellback.classroom.store.tables import login_attempts

MINUTE = 60.0
COUNTING = 7_355_722_207  # any number, for PostgreSQL's advisory lock


def count_attempt(database: Database, limits: Mapping[str, int]) -> float:
    """0 if an attempt may be made, and it is counted; else the seconds to wait.

    ``limits`` has the most attempts a minute of each bucket that the attempt takes from.
    """
    buckets = {digest(name): most for name, most in limits.items()}
    with database.read() as connection:
        wait = _wait(_left(connection, buckets), buckets)
    if wait:
        return wait  # without a write: a flood of guesses must not keep others from writing
    with database.write() as connection:
        database.one_at_a_time(connection, COUNTING)
        left = _left(connection, buckets)
        wait = _wait(left, buckets)
        if wait:
            return wait
        now = time.time()
        # Buckets are full after a minute: these need no row.
        old = login_attempts.c.at < now - MINUTE
        connection.execute(delete(login_attempts).where(old | login_attempts.c.key.in_(buckets)))
        rows = [{"key": key, "remaining": left[key] - 1, "at": now} for key in buckets]
        connection.execute(insert(login_attempts), rows)
    return 0.0


def _left(connection: Connection, buckets: Mapping[str, int]) -> dict[str, float]:
    """The attempts that each bucket has left now."""
    now = time.time()
    left = {key: float(most) for key, most in buckets.items()}
    query = select(login_attempts).where(login_attempts.c.key.in_(buckets))
    for row in connection.execute(query):
        most = buckets[row.key]
        left[row.key] = min(most, row.remaining + max(0.0, now - row.at) * most / MINUTE)
    return left


def _wait(left: Mapping[str, float], buckets: Mapping[str, int]) -> float:
    return max(max(0.0, 1 - left[key]) * MINUTE / most for key, most in buckets.items())
