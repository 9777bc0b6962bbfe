"""The projection of rounds: the state of each round, rebuilt from the log.

After a rollback to event N, every round has the state that it had right after event N. So has
everything that follows from rounds: the active descriptions, the agent, the counts of second
descriptions and of checks. Events between N and the rollback do not matter, earlier rollbacks
included. Four things are not restored:

- Rounds asked after event N. Open ones stay open. Closed ones become ``rolled_back``, because the
  agent that chose their responses is gone.
- Redacted words. The log is read as it is now.
- What people have seen: the request of a round they described, the response of a round they
  checked, a round they skipped.
- Leases, which are not events. A round that changes is free again; all others keep theirs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update

from tellback.classroom.store.log import Event, Kind, LessonLog, read_events
from tellback.classroom.store.rounds import RoundStatus, first_status
from tellback.classroom.store.tables import rounds

CLOSING = (Kind.SKIPPED, Kind.CANNOT_TELL, Kind.FLAGGED)
"""The kinds that close a round without a description. The status of the round has the same name."""

PROJECTED_KINDS = (Kind.DESCRIBED, Kind.WITHDRAWN, Kind.SECOND, Kind.ROLLED_BACK, *CLOSING)
"""The kinds that change the state of a round."""


class ProjectedRound(NamedTuple):
    """The state of a round."""

    status: str
    described: int | None = None
    describer: str | None = None
    second: int | None = None
    matched: bool | None = None


OPEN = ProjectedRound(RoundStatus.OPEN.value)
ROLLED_BACK = ProjectedRound(RoundStatus.ROLLED_BACK.value)


def rebuild_projection(log: LessonLog) -> int:
    """Rebuild the table of rounds from the log. Returns the number of active descriptions."""
    columns = [rounds.c[name] for name in ProjectedRound._fields]
    query = (
        select(rounds.c.number, rounds.c.asked, rounds.c.part, *columns)
        .where(rounds.c.lesson == log.lesson)
        .order_by(rounds.c.asked)
    )
    before = {row.number: row for row in log.connection.execute(query)}
    events = read_events(log.connection, log.lesson, kinds=PROJECTED_KINDS)
    states = project_rounds(
        events,
        {number: row.asked for number, row in before.items()},
        {number: row.part for number, row in before.items()},
    )
    changed: list[dict[str, Any]] = []
    for number, state in states.items():
        if state != tuple(before[number][3:]):
            values = {f"new_{name}": value for name, value in state._asdict().items()}
            changed.append(values | {"its_lesson": log.lesson, "its_number": number})
    if changed:
        log.connection.execute(_CHANGE, changed)
    return sum(state.described is not None for state in states.values())


_CHANGE = (
    update(rounds)
    .where(rounds.c.lesson == bindparam("its_lesson"), rounds.c.number == bindparam("its_number"))
    .values(
        **{name: bindparam(f"new_{name}") for name in ProjectedRound._fields},
        claimed_by=None,
        claimed_until=None,
    )
)


class _RoundHistory:
    """The states of one round, from the event that asked it."""

    def __init__(self, asked: int, first: ProjectedRound) -> None:
        self._seqs = [asked]
        self._states = [first]

    @property
    def asked(self) -> int:
        return self._seqs[0]

    @property
    def first(self) -> ProjectedRound:
        return self._states[0]

    @property
    def now(self) -> ProjectedRound:
        return self._states[-1]

    def add(self, seq: int, state: ProjectedRound) -> None:
        self._seqs.append(seq)
        self._states.append(state)

    def roll_back(self, seq: int, to: int) -> None:
        """Apply event ``seq``, a rollback to event ``to``."""
        if self.asked <= to:
            then = self._states[bisect_right(self._seqs, to) - 1]
        else:
            then = self.first if self.now == self.first else ROLLED_BACK
        if then != self.now:
            self.add(seq, then)


class Projection:
    """The states of rounds, updated event by event."""

    def __init__(self) -> None:
        self._rounds: dict[int, _RoundHistory] = {}

    def ask(self, number: int, seq: int, part: str | None = None) -> None:
        """Add a round, asked by event ``seq``. Rounds are added in the order of their events."""
        first = OPEN._replace(status=first_status(part).value)
        self._rounds[number] = _RoundHistory(seq, first)

    def apply(self, event: Event) -> None:
        """Apply an event of the kinds ``PROJECTED_KINDS``."""
        if event.kind is Kind.ROLLED_BACK:
            for history in self._rounds.values():
                if history.asked > event.seq:
                    break
                history.roll_back(event.seq, event.data["to"])
        elif event.round is not None:
            history = self._rounds[event.round]
            history.add(event.seq, _next_state(history.now, event, history.first))

    def of(self, number: int) -> ProjectedRound:
        """The state of a round now."""
        return self._rounds[number].now


def project_rounds(
    events: Iterable[Event], asked: Mapping[int, int], parts: Mapping[int, str | None]
) -> dict[int, ProjectedRound]:
    """The state of each round after these events.

    Parameters
    ----------
    events : iterable of Event
        The events of a lesson from its first, at least those of ``PROJECTED_KINDS``.
    asked : mapping
        The event that asked each round, in the order of these events.
    parts : mapping
        What each round is for: see ``RoundPart``.
    """
    projection = Projection()
    for number, seq in asked.items():
        projection.ask(number, seq, parts[number])
    for event in events:
        projection.apply(event)
    return {number: projection.of(number) for number in asked}


def _next_state(state: ProjectedRound, event: Event, first: ProjectedRound) -> ProjectedRound:
    """The state of a round after an event that names it."""
    if event.kind is Kind.DESCRIBED:
        if event.redacted:
            return first  # without its description
        matched = None if event.data["saw_request"] else event.data["matched"]
        return ProjectedRound(
            RoundStatus.DESCRIBED.value, event.seq, event.account, state.second, matched
        )
    if event.kind is Kind.SECOND or (event.kind in CLOSING and state.described is not None):
        # A second description, or the refusal to give one, which is the only way to close a
        # described round. If redacted, the round wants a second description again.
        given = state.described is not None and not event.redacted
        return state._replace(second=event.seq) if given else state
    if event.kind in CLOSING and not event.redacted and not event.data.get("second"):
        return ProjectedRound(event.kind.value, describer=event.account)
    return first if event.kind is Kind.WITHDRAWN or event.redacted else state
