"""Webhooks, and the outbox of deliveries to them.

``LessonLog.append`` writes a delivery in the transaction of its event. So there is a delivery if
and only if there is an event, whatever crashes in between.
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

MOST_WEBHOOKS = 20
SECRET = "tbh_"
KEPT = 100
"""Finished deliveries to keep for each webhook: the latest so many."""


class Webhook(NamedTuple):
    """An address to which events of a lesson are posted."""

    id: str
    lesson: str
    url: str
    secret: str
    created: float


class Delivery(NamedTuple):
    """An event to post to a webhook."""

    webhook: Webhook
    event: Event
    tries: int


class DeliveryState(NamedTuple):
    """The state of a webhook's deliveries."""

    waiting: int
    given_up: int
    latest_delivered: int | None
    trouble: str | None


def create_webhook(log: LessonLog, url: str) -> Webhook:
    """A new webhook, for events from now on."""
    mine = select(func.count()).where(hooks.c.lesson == log.lesson)
    if log.connection.execute(mine).scalar_one() >= MOST_WEBHOOKS:
        raise RefusedError("too_many_webhooks", f"A lesson has at most {MOST_WEBHOOKS} webhooks.")
    webhook = Webhook(new_id(), log.lesson, url, new_secret(SECRET), time.time())
    log.connection.execute(insert(hooks), webhook._asdict())
    return webhook


def webhooks_of(connection: Connection, lesson: str) -> list[Webhook]:
    """The webhooks of a lesson, the oldest first."""
    query = select(hooks).where(hooks.c.lesson == lesson).order_by(hooks.c.created, hooks.c.id)
    return [Webhook(**row._mapping) for row in connection.execute(query)]


def delete_webhook(log: LessonLog, id: str) -> None:
    """Delete a webhook and its waiting deliveries, under the lock of the lesson."""
    gone = log.connection.execute(
        delete(hooks).where(hooks.c.lesson == log.lesson, hooks.c.id == id)
    )
    if not gone.rowcount:
        raise UnknownNameError(f"There is no webhook {id!r} in this lesson.")


def delivery_state(connection: Connection, webhook: str) -> DeliveryState:
    """The state of a webhook's deliveries."""
    mine = deliveries.c.hook == webhook
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
    return DeliveryState(waiting, given_up, delivered, trouble)


def webhooks_due(connection: Connection, now: float) -> list[str]:
    """Ids of the webhooks with a delivery that is due."""
    query = select(deliveries.c.hook).where(deliveries.c.due <= now).distinct()
    return list(connection.execute(query).scalars())


def next_delivery(connection: Connection, webhook: str, now: float) -> Delivery | None:
    """The oldest delivery of a webhook, if it is due: later ones wait behind it."""
    row = connection.execute(
        select(deliveries.c.seq, deliveries.c.tries, deliveries.c.due)
        .where(deliveries.c.hook == webhook, deliveries.c.due.is_not(None))
        .order_by(deliveries.c.seq)
        .limit(1)
    ).one_or_none()
    if row is None or row.due > now:
        return None
    found = Webhook(**connection.execute(select(hooks).where(hooks.c.id == webhook)).one()._mapping)
    event = connection.execute(
        select(events).where(events.c.lesson == found.lesson, events.c.seq == row.seq)
    ).one()
    return Delivery(found, event_of(event), row.tries)


def note_delivered(connection: Connection, delivery: Delivery) -> None:
    """Note that a delivery arrived."""
    _note(connection, delivery, due=None, delivered=True, trouble=None)
    _forget_old(connection, delivery)


def note_failed(
    connection: Connection, delivery: Delivery, trouble: str, again: float | None
) -> None:
    """Note that a delivery failed; None for ``again`` gives it up."""
    _note(connection, delivery, due=again, delivered=False, trouble=trouble[:300])
    if again is None:
        _forget_old(connection, delivery)


def _note(connection: Connection, delivery: Delivery, **values: object) -> None:
    connection.execute(
        update(deliveries)
        .where(deliveries.c.hook == delivery.webhook.id, deliveries.c.seq == delivery.event.seq)
        .values(tries=delivery.tries + 1, **values)
    )


def _forget_old(connection: Connection, delivery: Delivery) -> None:
    connection.execute(
        delete(deliveries).where(
            deliveries.c.hook == delivery.webhook.id,
            deliveries.c.due.is_(None),
            deliveries.c.seq < delivery.event.seq - KEPT,
        )
    )


def backlog(connection: Connection) -> int:
    """Waiting deliveries."""
    query = select(func.count()).where(deliveries.c.due.is_not(None))
    found: int = connection.execute(query).scalar_one()
    return found


def body_of(delivery: Delivery) -> bytes:
    """The body of a delivery: the event as it is now, without redacted words."""
    event = delivery.event
    told = {
        "lesson": delivery.webhook.lesson,
        "event": event.seq,
        "kind": event.kind.value,
        "round": event.round,
        "account": event.account,
        "at": event.at,
        "data": event.data,
    }
    return json.dumps(told).encode()
