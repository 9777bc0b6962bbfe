"""Where each round stands, worked out again from the log.

The rule of going back: after a roll back to event N, rounds stand where they stood right after
event N, whatever came between, earlier roll backs included. So does all that follows from them:
which descriptions are active, what the agent knows, and the counts of second descriptions and
checks. Four things are not brought back, because a log cannot undo them:

- Rounds that were asked after event N: those that were open stay open, and those that were
  closed become ``rolled_back``, since the agent that chose their responses is no more.
- Deleted words. The log is read as it is now: what was redacted is gone at every event.
- What people know. Whoever described a round was shown its request, whoever checked one was
  shown its response, and whoever skipped one has seen it; that holds for good.
- Leases, which are no events. A round that changes is free again; all others keep theirs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update

from tellback.classroom.store.log import Event, Kind, LessonLog, read_events
from tellback.classroom.store.rounds import Status
from tellback.classroom.store.tables import rounds

ENDS = {
    Kind.SKIPPED: Status.SKIPPED,
    Kind.CANNOT_TELL: Status.CANNOT_TELL,
    Kind.FLAGGED: Status.FLAGGED,
}
PLACING = (Kind.DESCRIBED, Kind.WITHDRAWN, Kind.SECOND, Kind.ROLLED_BACK, *ENDS)
"""The kinds that say where a round stands."""


class Projected(NamedTuple):
    """Where a round stands."""

    status: str
    described: int | None = None
    describer: str | None = None
    second: int | None = None
    matched: bool | None = None


OPEN = Projected(Status.OPEN.value)
GONE = Projected(Status.ROLLED_BACK.value)


def rebuild_projection(log: LessonLog) -> int:
    """Make the table of rounds say what the log says; how many descriptions are active."""
    columns = [rounds.c[name] for name in Projected._fields]
    query = (
        select(rounds.c.number, rounds.c.asked, *columns)
        .where(rounds.c.lesson == log.lesson)
        .order_by(rounds.c.asked)
    )
    before = {row.number: row for row in log.connection.execute(query)}
    happened = read_events(log.connection, log.lesson, kinds=PLACING)
    places = projection_after(happened, {number: row.asked for number, row in before.items()})
    changed: list[dict[str, Any]] = []
    for number, place in places.items():
        if place != tuple(before[number][2:]):
            values = {f"new_{name}": value for name, value in place._asdict().items()}
            changed.append(values | {"its_lesson": log.lesson, "its_number": number})
    if changed:
        log.connection.execute(_CHANGE, changed)
    return sum(place.described is not None for place in places.values())


_CHANGE = (
    update(rounds)
    .where(rounds.c.lesson == bindparam("its_lesson"), rounds.c.number == bindparam("its_number"))
    .values(
        **{name: bindparam(f"new_{name}") for name in Projected._fields},
        claimed_by=None,
        claimed_until=None,
    )
)


class _Past:
    """Where one round stood, from the event that asked it."""

    def __init__(self, asked: int) -> None:
        self._seqs = [asked]
        self._places = [OPEN]

    @property
    def asked(self) -> int:
        return self._seqs[0]

    @property
    def now(self) -> Projected:
        return self._places[-1]

    def put(self, seq: int, place: Projected) -> None:
        self._seqs.append(seq)
        self._places.append(place)

    def go_back(self, seq: int, to: int) -> None:
        """Event ``seq`` goes back to event ``to``."""
        if self.asked <= to:
            then = self._places[bisect_right(self._seqs, to) - 1]
        else:
            then = OPEN if self.now == OPEN else GONE
        if then != self.now:
            self.put(seq, then)


class Projection:
    """Where rounds stand, followed event by event."""

    def __init__(self) -> None:
        self._pasts: dict[int, _Past] = {}

    def ask(self, number: int, seq: int) -> None:
        """A round was asked by this event, after all that are known."""
        self._pasts[number] = _Past(seq)

    def follow(self, event: Event) -> None:
        """Something happened, of the kinds ``PLACING``."""
        if event.kind is Kind.ROLLED_BACK:
            for past in self._pasts.values():
                if past.asked > event.seq:
                    break
                past.go_back(event.seq, event.data["to"])
        elif event.round is not None:
            past = self._pasts[event.round]
            past.put(event.seq, _moved(past.now, event))

    def of(self, number: int) -> Projected:
        """Where a round stands now."""
        return self._pasts[number].now


def projection_after(happened: Iterable[Event], asked: Mapping[int, int]) -> dict[int, Projected]:
    """Where each round stands after these events.

    Parameters
    ----------
    happened : iterable of Event
        The events of a lesson from its beginning, at least those of the kinds ``PLACING``.
    asked : mapping
        The event that asked each round, in the order of these events.
    """
    places = Projection()
    for number, seq in asked.items():
        places.ask(number, seq)
    for event in happened:
        places.follow(event)
    return {number: places.of(number) for number in asked}


def _moved(place: Projected, event: Event) -> Projected:
    """Where an event puts a round."""
    if event.kind is Kind.DESCRIBED:
        if event.redacted:
            return OPEN  # nobody has described it any more
        matched = None if event.data["saw_request"] else event.data["matched"]
        return Projected(Status.DESCRIBED.value, event.seq, event.account, place.second, matched)
    if event.kind is Kind.SECOND or (event.kind in ENDS and place.described is not None):
        # A second description, or somebody who has none: a round that is described can only be
        # closed so. Redacted, either leaves the first, which wants a second again.
        given = place.described is not None and not event.redacted
        return place._replace(second=event.seq) if given else place
    if event.kind in ENDS and not event.redacted and not event.data.get("second"):
        return Projected(ENDS[event.kind].value, describer=event.account)
    return OPEN if event.kind is Kind.WITHDRAWN or event.redacted else place
