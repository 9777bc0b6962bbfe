"""Sessions of people who signed in with a browser."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, delete, insert, select, update

from tellback.classroom.store.database import Database
from tellback.classroom.store.secrets import digest, new_secret
from tellback.classroom.store.tables import accounts, sessions

IDLE_SECONDS = 12 * 3600.0
LONGEST_SECONDS = 7 * 24 * 3600.0
SLIDES_AFTER = 600.0
"""Seconds between two extensions of a session in use: each one is a write to disk."""


class Holder(NamedTuple):
    """The account of a session or token."""

    account: str
    name: str
    role: str
    expires: float | None


def select_holder(table: Table) -> Select[Any]:
    """The holders of sessions or tokens, without disabled accounts; last, the time of creation."""
    return (
        select(accounts.c.id, accounts.c.name, accounts.c.role, table.c.expires, table.c.created)
        .join(accounts, accounts.c.id == table.c.account)
        .where(accounts.c.disabled.is_(False))
    )


def create(database: Database, account: str) -> str:
    """Create a session, and delete expired ones. Returns its secret, for the cookie."""
    secret, now = new_secret(), time.time()
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.expires <= now))
        connection.execute(
            insert(sessions).values(
                digest=digest(secret), account=account, created=now, expires=now + IDLE_SECONDS
            )
        )
    return secret


def find(database: Database, secret: str) -> Holder | None:
    """The account of a session; None if it ended or the account is disabled."""
    now, kept = time.time(), digest(secret)
    with database.read() as connection:
        row = connection.execute(
            select_holder(sessions).where(sessions.c.digest == kept, sessions.c.expires > now)
        ).first()
    if row is None:
        return None
    expires = min(now + IDLE_SECONDS, row.created + LONGEST_SECONDS)
    if expires - row.expires > SLIDES_AFTER:
        with database.write() as connection:
            connection.execute(
                update(sessions).where(sessions.c.digest == kept).values(expires=expires)
            )
    else:
        expires = row.expires
    return Holder(row.id, row.name, row.role, expires)


def end(database: Database, secret: str) -> None:
    """End a session."""
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.digest == digest(secret)))


def end_all(connection: Connection, account: str) -> None:
    """End all sessions of an account."""
    connection.execute(delete(sessions).where(sessions.c.account == account))
