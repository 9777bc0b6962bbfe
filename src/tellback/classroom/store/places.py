"""Where each round stands, worked out again from the log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update

from tellback.classroom.store.log import Event, Kind, LessonLog, counts, in_force, read_events
from tellback.classroom.store.rounds import Status
from tellback.classroom.store.tables import rounds

ENDS = {
    Kind.SKIPPED: Status.SKIPPED,
    Kind.CANNOT_TELL: Status.CANNOT_TELL,
    Kind.FLAGGED: Status.FLAGGED,
}
PLACING = (Kind.DESCRIBED, Kind.WITHDRAWN, Kind.SECOND, Kind.ROLLED_BACK, *ENDS)
"""The kinds that say where a round stands."""


class Place(NamedTuple):
    """Where a round stands."""

    status: str
    described: int | None = None
    describer: str | None = None
    second: int | None = None
    matched: bool | None = None


OPEN = Place(Status.OPEN.value)
GONE = Place(Status.ROLLED_BACK.value)


def settle_places(log: LessonLog) -> int:
    """Make the table of rounds say what the log says; how many descriptions stand.

    A round stands where the last event that counts has put it. One that was asked after the event
    that the lesson went back to, and was closed since, is not opened again: the agent that chose
    its response is no more. One that waits goes on waiting.
    """
    happened = list(read_events(log.connection, log.lesson, kinds=PLACING))
    spans = in_force((one for one in happened if one.kind is Kind.ROLLED_BACK), log.latest)
    now = _placed(one for one in happened if counts(spans, one.seq))
    undone = _placed(one for one in happened if not counts(spans, one.seq))
    columns = [rounds.c[name] for name in Place._fields]
    query = select(rounds.c.number, rounds.c.asked, *columns).where(rounds.c.lesson == log.lesson)
    changed: list[dict[str, Any]] = []
    standing = 0
    for number, asked, *before in log.connection.execute(query):
        place = now.get(number, OPEN)
        closed_since = undone.get(number, OPEN) != OPEN
        if number not in now and closed_since and not counts(spans, asked):
            place = GONE
        standing += place.described is not None
        if place != tuple(before):
            values = {f"new_{name}": value for name, value in place._asdict().items()}
            changed.append(values | {"its_lesson": log.lesson, "its_number": number})
    if changed:
        log.connection.execute(_CHANGE, changed)
    return standing


_CHANGE = (
    update(rounds)
    .where(rounds.c.lesson == bindparam("its_lesson"), rounds.c.number == bindparam("its_number"))
    .values(
        **{name: bindparam(f"new_{name}") for name in Place._fields},
        claimed_by=None,
        claimed_until=None,
    )
)


def _placed(happened: Iterable[Event]) -> dict[int, Place]:
    places: dict[int, Place] = {}
    for event in happened:
        if event.round is None:
            continue
        if event.kind is Kind.WITHDRAWN:
            places[event.round] = OPEN
        elif event.redacted:
            # Nobody has described it any more. A second that was redacted leaves the first.
            if event.kind is not Kind.SECOND:
                places[event.round] = OPEN
        elif event.kind is Kind.DESCRIBED:
            matched = None if event.data["saw_request"] else event.data["matched"]
            status = Status.DESCRIBED.value
            places[event.round] = Place(status, event.seq, event.account, None, matched)
        elif event.kind is Kind.SECOND:
            first = places.get(event.round)
            if first is not None and first.described is not None:
                places[event.round] = first._replace(second=event.seq)
        else:
            places[event.round] = Place(ENDS[event.kind].value, describer=event.account)
    return places
