"""Hooks, and the outbox: what is to be delivered to whom.

A delivery is written by ``LessonLog.append``, in the transaction of the event it tells of. So it
is there if and only if the event is, whatever dies in between.
"""

from __future__ import annotations

import json
import time
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from tellback.classroom.store.descriptions import RefusedError
from tellback.classroom.store.log import Event, LessonLog, event_of
from tellback.classroom.store.secrets import new_id, new_secret
from tellback.classroom.store.tables import deliveries, events, hooks
from tellback.errors import UnknownNameError

MOST_HOOKS = 20
SECRET = "tbh_"
KEPT = 100
"""Deliveries that are over are kept for looks: the latest so many of each hook."""


class Hook(NamedTuple):
    """Where word is sent."""

    id: str
    lesson: str
    url: str
    secret: str
    created: float


class Delivery(NamedTuple):
    """What is to be sent next to a hook."""

    hook: Hook
    event: Event
    tries: int


class Standing(NamedTuple):
    """How the deliveries of a hook go."""

    waiting: int
    given_up: int
    latest_delivered: int | None
    trouble: str | None


def create_hook(log: LessonLog, url: str) -> Hook:
    """A new hook, to be told of what comes from now on."""
    mine = select(func.count()).where(hooks.c.lesson == log.lesson)
    if log.connection.execute(mine).scalar_one() >= MOST_HOOKS:
        raise RefusedError("too_many_hooks", f"A lesson has at most {MOST_HOOKS} hooks.")
    hook = Hook(new_id(), log.lesson, url, new_secret(SECRET), time.time())
    log.connection.execute(insert(hooks), hook._asdict())
    return hook


def hooks_of(connection: Connection, lesson: str) -> list[Hook]:
    """The hooks of a lesson, the oldest first."""
    query = select(hooks).where(hooks.c.lesson == lesson).order_by(hooks.c.created, hooks.c.id)
    return [Hook(**row._mapping) for row in connection.execute(query)]


def delete_hook(log: LessonLog, id: str) -> None:
    """End a hook and what waits for it; nobody can write to the lesson meanwhile."""
    gone = log.connection.execute(
        delete(hooks).where(hooks.c.lesson == log.lesson, hooks.c.id == id)
    )
    if not gone.rowcount:
        raise UnknownNameError(f"There is no hook {id!r} in this lesson.")


def standing_of(connection: Connection, hook: str) -> Standing:
    """How the deliveries of a hook go."""
    mine = deliveries.c.hook == hook
    counts = connection.execute(
        select(
            func.count().filter(deliveries.c.due.is_not(None)),
            func.count().filter(deliveries.c.due.is_(None), deliveries.c.delivered.is_(False)),
            func.max(deliveries.c.seq).filter(deliveries.c.delivered.is_(True)),
        ).where(mine)
    ).one()
    trouble = connection.execute(
        select(deliveries.c.trouble)
        .where(mine, deliveries.c.trouble.is_not(None), deliveries.c.delivered.is_(False))
        .order_by(deliveries.c.seq.desc())
        .limit(1)
    ).scalar()
    waiting, given_up, delivered = counts
    return Standing(waiting, given_up, delivered, trouble)


def hooks_due(connection: Connection, now: float) -> list[str]:
    """The hooks for which something may be due."""
    query = select(deliveries.c.hook).where(deliveries.c.due <= now).distinct()
    return list(connection.execute(query).scalars())


def next_delivery(connection: Connection, hook: str, now: float) -> Delivery | None:
    """The earliest that a hook waits for, if its time has come: later ones wait behind it."""
    row = connection.execute(
        select(deliveries.c.seq, deliveries.c.tries, deliveries.c.due)
        .where(deliveries.c.hook == hook, deliveries.c.due.is_not(None))
        .order_by(deliveries.c.seq)
        .limit(1)
    ).one_or_none()
    if row is None or row.due > now:
        return None
    found = Hook(**connection.execute(select(hooks).where(hooks.c.id == hook)).one()._mapping)
    event = connection.execute(
        select(events).where(events.c.lesson == found.lesson, events.c.seq == row.seq)
    ).one()
    return Delivery(found, event_of(event), row.tries)


def note_delivered(connection: Connection, delivery: Delivery) -> None:
    """It has arrived."""
    _note(connection, delivery, due=None, delivered=True, trouble=None)
    _forget_old(connection, delivery)


def note_failed(
    connection: Connection, delivery: Delivery, trouble: str, again: float | None
) -> None:
    """It has not; None for ``again`` gives it up."""
    _note(connection, delivery, due=again, delivered=False, trouble=trouble[:300])
    if again is None:
        _forget_old(connection, delivery)


def _note(connection: Connection, delivery: Delivery, **values: object) -> None:
    connection.execute(
        update(deliveries)
        .where(deliveries.c.hook == delivery.hook.id, deliveries.c.seq == delivery.event.seq)
        .values(tries=delivery.tries + 1, **values)
    )


def _forget_old(connection: Connection, delivery: Delivery) -> None:
    connection.execute(
        delete(deliveries).where(
            deliveries.c.hook == delivery.hook.id,
            deliveries.c.due.is_(None),
            deliveries.c.seq < delivery.event.seq - KEPT,
        )
    )


def backlog(connection: Connection) -> int:
    """How many deliveries wait."""
    query = select(func.count()).where(deliveries.c.due.is_not(None))
    found: int = connection.execute(query).scalar_one()
    return found


def body_of(delivery: Delivery) -> bytes:
    """What is sent: what the event says now. Of words that were redacted, nothing."""
    event = delivery.event
    told = {
        "lesson": delivery.hook.lesson,
        "event": event.seq,
        "kind": event.kind.value,
        "round": event.round,
        "account": event.account,
        "at": event.at,
        "data": event.data,
    }
    return json.dumps(told).encode()
