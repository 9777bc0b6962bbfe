"""Webhooks and the outbox of their deliveries.

``LessonLog.append`` writes a delivery in the transaction of its event. So a crash leaves both or
neither.
"""

from __future__ import annotations

import json
import time
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Event, LessonLog, event_of
from tellback.classroom.store.secrets import new_id, new_secret
from tellback.classroom.store.tables import deliveries, events, webhooks
from tellback.errors import UnknownNameError

MOST_WEBHOOKS = 20
SECRET = "tbh_"
KEPT_DELIVERIES = 100
"""Finished deliveries kept of each webhook, the latest ones, for people to look at."""


class Webhook(NamedTuple):
    """A URL that is told of new descriptions."""

    id: str
    lesson: str
    url: str
    secret: str
    created: float


class Delivery(NamedTuple):
    """The next delivery of a webhook."""

    webhook: Webhook
    event: Event
    tries: int


class DeliveryState(NamedTuple):
    """Counts of a webhook's deliveries, and the error of the last failed one."""

    waiting: int
    given_up: int
    latest_delivered: int | None
    trouble: str | None


def create_webhook(log: LessonLog, url: str) -> Webhook:
    """Create a webhook. It is told of events from now on."""
    mine = select(func.count()).where(webhooks.c.lesson == log.lesson)
    if log.connection.execute(mine).scalar_one() >= MOST_WEBHOOKS:
        raise ConflictError("too_many_webhooks", f"A lesson has at most {MOST_WEBHOOKS} webhooks.")
    webhook = Webhook(new_id(), log.lesson, url, new_secret(SECRET), time.time())
    log.connection.execute(insert(webhooks), webhook._asdict())
    return webhook


def webhooks_of(connection: Connection, lesson: str) -> list[Webhook]:
    """The webhooks of a lesson, the oldest first."""
    query = (
        select(webhooks)
        .where(webhooks.c.lesson == lesson)
        .order_by(webhooks.c.created, webhooks.c.id)
    )
    return [Webhook(**row._mapping) for row in connection.execute(query)]


def delete_webhook(log: LessonLog, id: str) -> None:
    """Delete a webhook and its waiting deliveries. The lesson is locked meanwhile."""
    gone = log.connection.execute(
        delete(webhooks).where(webhooks.c.lesson == log.lesson, webhooks.c.id == id)
    )
    if not gone.rowcount:
        raise UnknownNameError(f"There is no webhook {id!r} in this lesson.")


def delivery_state(connection: Connection, webhook: str) -> DeliveryState:
    """Counts of a webhook's deliveries, and the error of the last failed one."""
    mine = deliveries.c.webhook == webhook
    waiting, given_up, delivered = connection.execute(
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
    return DeliveryState(waiting, given_up, delivered, trouble)


def webhooks_due(connection: Connection, now: float) -> list[str]:
    """Ids of the webhooks that may have a delivery due."""
    query = select(deliveries.c.webhook).where(deliveries.c.due <= now).distinct()
    return list(connection.execute(query).scalars())


def next_delivery(connection: Connection, webhook: str, now: float) -> Delivery | None:
    """The earliest waiting delivery, if it is due. Later ones wait behind it: order is kept."""
    row = connection.execute(
        select(deliveries.c.seq, deliveries.c.tries, deliveries.c.due)
        .where(deliveries.c.webhook == webhook, deliveries.c.due.is_not(None))
        .order_by(deliveries.c.seq)
        .limit(1)
    ).one_or_none()
    if row is None or row.due > now:
        return None
    found = Webhook(
        **connection.execute(select(webhooks).where(webhooks.c.id == webhook)).one()._mapping
    )
    event = connection.execute(
        select(events).where(events.c.lesson == found.lesson, events.c.seq == row.seq)
    ).one()
    return Delivery(found, event_of(event), row.tries)


def mark_attempt(
    connection: Connection, delivery: Delivery, trouble: str | None, again: float | None = None
) -> None:
    """Note that a delivery arrived, or its trouble and the time of the next attempt, if any."""
    mine, seq = deliveries.c.webhook == delivery.webhook.id, delivery.event.seq
    connection.execute(
        update(deliveries)
        .where(mine, deliveries.c.seq == seq)
        .values(
            tries=delivery.tries + 1,
            due=again,
            delivered=trouble is None,
            trouble=trouble and trouble[:300],
        )
    )
    if again is None:
        finished = mine & deliveries.c.due.is_(None)
        connection.execute(
            delete(deliveries).where(finished, deliveries.c.seq < seq - KEPT_DELIVERIES)
        )


def delivery_body(delivery: Delivery) -> bytes:
    """The JSON to send: the event as it is now. Redacted words are not sent."""
    event = delivery.event
    body = {
        "lesson": delivery.webhook.lesson,
        "event": event.seq,
        "kind": event.kind.value,
        "round": event.round,
        "account": event.account,
        "at": event.at,
        "data": event.data,
    }
    return json.dumps(body).encode()
