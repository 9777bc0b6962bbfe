"""The log of a lesson: events in order, only ever added to."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, false, insert, literal, select, update

from tellback.classroom.store.database import ADD, LATER, PREPARED, Database
from tellback.classroom.store.tables import deliveries, events, lessons, webhooks
from tellback.errors import UnknownNameError
from tellback.specs import Data


class Kind(StrEnum):
    """The kinds of events."""

    ASKED = "asked"
    SUGGESTED = "suggested"
    DESCRIBED = "described"
    WITHDRAWN = "withdrawn"
    SKIPPED = "skipped"
    CANNOT_TELL = "cannot_tell"
    FLAGGED = "flagged"
    SECOND = "second"
    ANSWERED = "answered"
    CHECKED = "checked"
    JUDGED = "judged"
    REVIEWED = "reviewed"
    ROLLED_BACK = "rolled_back"
    REDACTED = "redacted"


TOMBSTONE: Data = {"redacted": True}
"""The data of a redacted event."""

ACTIVE_CHANGES = (Kind.DESCRIBED, Kind.WITHDRAWN, Kind.ROLLED_BACK, Kind.REDACTED)
"""The kinds that can change which descriptions are active."""

WEBHOOK_KINDS = (*ACTIVE_CHANGES, Kind.SECOND)
"""The kinds that webhooks are told of."""

# Built once: building a statement takes longer than executing it.
_THIS = lessons.c.id == bindparam("lesson")
_COUNT = select(lessons.c.events).where(_THIS)
# Locks the lesson, and takes the numbers of the likely events and rounds.
_TAKE = (
    update(lessons)
    .where(_THIS)
    .values(
        events=lessons.c.events + bindparam("more_events"),
        rounds=lessons.c.rounds + bindparam("more_rounds"),
    )
    .returning(lessons.c.events, lessons.c.rounds)
    .execution_options(**PREPARED)
)
_ADVANCE = (
    update(lessons)
    .where(_THIS)
    .values(events=bindparam("event"), rounds=bindparam("round"))
    .execution_options(**LATER)
)
_APPEND = insert(events).execution_options(**ADD)
ENQUEUE_DELIVERIES = (
    insert(deliveries)
    .from_select(
        ["webhook", "seq", "lesson", "tries", "due", "delivered"],
        select(
            webhooks.c.id,
            bindparam("event", type_=deliveries.c.seq.type),
            webhooks.c.lesson,
            literal(0),
            bindparam("now", type_=deliveries.c.due.type),
            false(),
        ).where(webhooks.c.lesson == bindparam("lesson")),
    )
    .execution_options(**LATER)
)


class Event(NamedTuple):
    """An event of a lesson."""

    seq: int
    kind: Kind
    round: int | None
    account: str | None
    at: float
    data: Data

    @property
    def redacted(self) -> bool:
        """Whether its data was deleted."""
        return bool(self.data.get("redacted"))


@dataclass
class LessonLog:
    """The log of a lesson in a transaction that writes. The lesson is locked."""

    connection: Connection
    lesson: str
    latest: int  # the number of the latest event
    rounds: int  # the number of the latest round

    def append(
        self, kind: Kind, data: Data, *, round: int | None = None, account: str | None = None
    ) -> int:
        """Add an event. Returns its number."""
        self.latest += 1
        values = {
            "lesson": self.lesson,
            "seq": self.latest,
            "kind": kind.value,
            "round": round,
            "account": account,
            "at": time.time(),
            "data": json.dumps(data, allow_nan=False),
        }
        self.connection.execute(_APPEND, values)
        if kind in WEBHOOK_KINDS:  # into the outbox, in the same transaction
            values = {"event": self.latest, "now": time.time(), "lesson": self.lesson}
            self.connection.execute(ENQUEUE_DELIVERIES, values)
        return self.latest

    def next_round(self) -> int:
        """The number of a new round."""
        self.rounds += 1
        return self.rounds


@contextmanager
def writing(
    database: Database, lesson: str, rounds: int = 0, events: int = 1
) -> Iterator[LessonLog]:
    """Lock a lesson and write to its log: events are numbered as they become visible.

    ``rounds`` and ``events`` are the likely numbers of new ones. A wrong guess only costs time.
    """
    with database.write() as connection:
        more = {"lesson": lesson, "more_rounds": rounds, "more_events": events}
        taken = connection.execute(_TAKE, more).one_or_none()
        if taken is None:
            raise UnknownNameError(f"There is no lesson {lesson!r}.")
        log = LessonLog(connection, lesson, taken.events - events, taken.rounds - rounds)
        yield log
        if (log.latest, log.rounds) != tuple(taken):
            values = {"lesson": lesson, "event": log.latest, "round": log.rounds}
            connection.execute(_ADVANCE, values)


def latest_event(connection: Connection, lesson: str) -> int:
    """The number of the latest event."""
    return _found(lesson, connection.execute(_COUNT, {"lesson": lesson}).scalar())


def latest_round(connection: Connection, lesson: str) -> int:
    """The number of the latest round."""
    query = select(lessons.c.rounds).where(lessons.c.id == lesson)
    return _found(lesson, connection.execute(query).scalar())


def _found(lesson: str, number: int | None) -> int:
    if number is None:  # the lesson was deleted meanwhile
        raise UnknownNameError(f"There is no lesson {lesson!r}.")
    return number


def read_events(
    connection: Connection,
    lesson: str,
    *,
    after: int = 0,
    upto: int | None = None,
    kinds: Iterable[Kind] | None = None,
    round: int | None = None,
) -> Iterator[Event]:
    """Events of a lesson, in order."""
    query = select(events).where(events.c.lesson == lesson, events.c.seq > after)
    if upto is not None:
        query = query.where(events.c.seq <= upto)
    if kinds is not None:
        query = query.where(events.c.kind.in_([kind.value for kind in kinds]))
    if round is not None:
        query = query.where(events.c.round == round)
    query = query.order_by(events.c.seq)
    # Closed even if not read to the end: PostgreSQL keeps a cursor for it.
    with connection.execute(query.execution_options(yield_per=500)) as rows:
        for row in rows:
            yield event_of(row)


def event_of(row: Row[Any]) -> Event:
    """An event from its row."""
    return Event(row.seq, Kind(row.kind), row.round, row.account, row.at, json.loads(row.data))


Spans = list[tuple[int, int]]
"""Spans (low, high] of event numbers."""


def active_spans(rollbacks: Iterable[Event], latest: int) -> Spans:
    """The spans of a log that were not rolled back.

    Read from the end: a rollback to event N skips all events after N, earlier rollbacks included.
    So a rollback can be rolled back, and each one is looked at once.
    """
    spans: Spans = []
    for event in sorted(rollbacks, key=lambda event: -event.seq):
        if event.seq <= latest:
            spans.append((event.seq, latest))
            latest = event.data["to"]
    spans.append((0, latest))
    return spans[::-1]


def find_active_spans(connection: Connection, lesson: str) -> Spans:
    """The spans of a lesson's log that were not rolled back."""
    rollbacks = read_events(connection, lesson, kinds=[Kind.ROLLED_BACK])
    return active_spans(rollbacks, latest_event(connection, lesson))


def in_spans(spans: Spans, seq: int) -> bool:
    """Whether an event is in one of the spans."""
    return any(low < seq <= high for low, high in spans)
