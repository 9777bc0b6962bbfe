"""Leases on jobs that one process at a time does."""

from __future__ import annotations

import time

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from tellback.classroom.store.database import Database
from tellback.classroom.store.tables import leases


def acquire_lease(database: Database, name: str, holder: str, seconds: float) -> bool:
    """Take or keep a lease; False if another holds it, found out by a read alone."""
    with database.read() as connection:
        other = connection.execute(
            select(leases.c.name).where(
                leases.c.name == name, leases.c.holder != holder, leases.c.until >= time.time()
            )
        ).first()
    if other is not None:
        return False
    with database.write() as connection:
        return take_lease(connection, name, holder, seconds)


def take_lease(connection: Connection, name: str, holder: str, seconds: float) -> bool:
    """Take or keep a lease; False if another holds it."""
    now = time.time()
    taken = connection.execute(
        update(leases)
        .where(leases.c.name == name, (leases.c.holder == holder) | (leases.c.until < now))
        .values(holder=holder, until=now + seconds)
    )
    if taken.rowcount:
        return True
    if connection.execute(select(leases.c.holder).where(leases.c.name == name)).scalar():
        return False
    try:
        with connection.begin_nested():
            connection.execute(
                insert(leases), {"name": name, "holder": holder, "until": now + seconds}
            )
    except IntegrityError:
        return False
    return True
