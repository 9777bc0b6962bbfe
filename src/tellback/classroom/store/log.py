"""The log of a lesson: what happened, in order, and never changed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, false, insert, literal, select, update

from tellback.classroom.store.database import Database
from tellback.classroom.store.tables import deliveries, events, hooks, lessons
from tellback.errors import UnknownNameError
from tellback.specs import Data


class Kind(StrEnum):
    """What can happen in a lesson."""

    ASKED = "asked"
    DESCRIBED = "described"
    WITHDRAWN = "withdrawn"
    SKIPPED = "skipped"
    CANNOT_TELL = "cannot_tell"
    FLAGGED = "flagged"
    SECOND = "second"
    CHECKED = "checked"
    ROLLED_BACK = "rolled_back"
    REDACTED = "redacted"


TOMBSTONE: Data = {"redacted": True}
"""What is left of an event whose author's data was deleted."""

STANDING_CHANGES = (Kind.DESCRIBED, Kind.WITHDRAWN, Kind.ROLLED_BACK, Kind.REDACTED)
"""The kinds after which other descriptions may stand than before."""


TOLD = (*STANDING_CHANGES, Kind.SECOND)
"""The kinds that hooks are told of."""


# Statements of every request are put together once: that takes longer than to carry them out.
_THIS = lessons.c.id == bindparam("lesson")
_COUNT = select(lessons.c.events).where(_THIS)
# Takes the lesson, and the number of the one event that most writes have.
_TAKE = (
    update(lessons)
    .where(_THIS)
    .values(events=lessons.c.events + 1, rounds=lessons.c.rounds + bindparam("more"))
    .returning(lessons.c.events, lessons.c.rounds)
)
_ADVANCE = update(lessons).where(_THIS).values(events=bindparam("event"), rounds=bindparam("round"))
_APPEND = insert(events)
_CHANGES = (
    select(events.c.kind, events.c.round)
    .where(
        events.c.lesson == bindparam("lesson"),
        events.c.seq > bindparam("after"),
        # To PostgreSQL, which plans without knowing either, this says that they are few.
        events.c.seq <= bindparam("upto"),
        events.c.kind.in_([kind.value for kind in STANDING_CHANGES]),
    )
    .order_by(events.c.seq)
)
_TELL_HOOKS = insert(deliveries).from_select(
    ["hook", "seq", "lesson", "tries", "due", "delivered"],
    select(
        hooks.c.id,
        bindparam("event", type_=deliveries.c.seq.type),
        hooks.c.lesson,
        literal(0),
        bindparam("now", type_=deliveries.c.due.type),
        false(),
    ).where(hooks.c.lesson == bindparam("lesson")),
)


class Event(NamedTuple):
    """Something that happened."""

    seq: int
    kind: Kind
    round: int | None
    account: str | None
    at: float
    data: Data

    @property
    def redacted(self) -> bool:
        """Whether only a tombstone is left."""
        return bool(self.data.get("redacted"))


class LessonLog:
    """The log of a lesson that is being written to, while nobody else can.

    Attributes
    ----------
    connection : Connection
        The transaction.
    lesson : str
        Its id.
    latest : int
        The number of the latest event.
    rounds : int
        The number of the latest round.
    """

    def __init__(self, connection: Connection, lesson: str, latest: int, rounds: int) -> None:
        self.connection = connection
        self.lesson = lesson
        self.latest = latest
        self.rounds = rounds

    def append(
        self, kind: Kind, data: Data, *, round: int | None = None, account: str | None = None
    ) -> int:
        """Add an event; its number."""
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
        if kind in TOLD:
            self._tell_hooks()
        return self.latest

    def _tell_hooks(self) -> None:
        """Put word of the latest event into the outbox: both are kept, or neither."""
        values = {"event": self.latest, "now": time.time(), "lesson": self.lesson}
        self.connection.execute(_TELL_HOOKS, values)

    def next_round(self) -> int:
        """The number of a new round."""
        self.rounds += 1
        return self.rounds


@contextmanager
def writing(database: Database, lesson: str, rounds: int = 0) -> Iterator[LessonLog]:
    """Write to the log of a lesson, alone: events are numbered as they become visible.

    ``rounds`` says how many new ones are likely; that is a matter of speed alone.
    """
    with database.write() as connection:
        taken = connection.execute(_TAKE, {"lesson": lesson, "more": rounds}).one_or_none()
        if taken is None:
            raise UnknownNameError(f"There is no lesson {lesson!r}.")
        log = LessonLog(connection, lesson, taken.events - 1, taken.rounds - rounds)
        yield log
        if (log.latest, log.rounds) != tuple(taken):
            values = {"lesson": lesson, "event": log.latest, "round": log.rounds}
            connection.execute(_ADVANCE, values)


def latest_event(connection: Connection, lesson: str) -> int:
    """The number of the latest event."""
    latest: int = connection.execute(_COUNT, {"lesson": lesson}).scalar_one()
    return latest


def changes_between(
    connection: Connection, lesson: str, after: int, upto: int
) -> list[tuple[Kind, int | None]]:
    """What happened between two events to which rounds that may change what stands."""
    rows = connection.execute(_CHANGES, {"lesson": lesson, "after": after, "upto": upto})
    return [(Kind(row.kind), row.round) for row in rows]


def read_events(
    connection: Connection,
    lesson: str,
    *,
    after: int = 0,
    upto: int | None = None,
    kinds: Iterable[Kind] | None = None,
    round: int | None = None,
) -> Iterator[Event]:
    """Events of a lesson in their order."""
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
"""Stretches of a log: events above the first number, up to the second."""


def in_force(rollbacks: Iterable[Event], latest: int) -> Spans:
    """The stretches of a log that count: what was rolled back does not.

    Read from the end: a roll back skips all that came after the event it goes back to, earlier
    roll backs included. So they can be rolled back too, and any number of them costs no more
    than one look at each.
    """
    spans: Spans = []
    for event in sorted(rollbacks, key=lambda event: -event.seq):
        if event.seq <= latest:
            spans.append((event.seq, latest))
            latest = event.data["to"]
    spans.append((0, latest))
    return spans[::-1]


def spans_in_force(connection: Connection, lesson: str) -> Spans:
    """The stretches of a lesson's log that count now."""
    rollbacks = read_events(connection, lesson, kinds=[Kind.ROLLED_BACK])
    return in_force(rollbacks, latest_event(connection, lesson))


def counts(spans: Spans, seq: int) -> bool:
    """Whether an event is in one of the stretches."""
    return any(low < seq <= high for low, high in spans)
