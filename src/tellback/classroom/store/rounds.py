"""Rounds and their current state.

Every change is an event of the log and, in the same transaction, a change of the table
``rounds``, which is a projection of the log.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, bindparam, func, insert, select, update

from tellback.arrays import Array
from tellback.classroom.store.database import ADD, LATER
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog
from tellback.classroom.store.tables import events, rounds, seen
from tellback.classroom.store.tasks import Content, add_task
from tellback.errors import UnknownNameError
from tellback.roles import Choice, Instruction, hashable
from tellback.specs import Data


class RoundStatus(StrEnum):
    """The status of a round."""

    OPEN = "open"
    DESCRIBED = "described"
    SKIPPED = "skipped"
    CANNOT_TELL = "cannot_tell"
    FLAGGED = "flagged"
    ROLLED_BACK = "rolled_back"
    KNOWN = "known"


class RoundPart(StrEnum):
    """What a round is for, if not for a request."""

    KNOWN = "known"  # its answers are known: every teacher may get it, and it teaches nothing
    EXAM = "exam"  # its description is a held-out request: it does not teach
    FIRST = "first"  # nothing is asked: no description to make a request of, or it was deleted


ANYTHING = "anything"
"""The request of a round for which nothing was said yet, or whose words were deleted."""


class Drawn(NamedTuple):
    """A response of a world that has too many to list, and the number of that world's task."""

    task: int
    response: Any

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> Drawn | None:
        """As the data of an ``asked`` event has it."""
        return None if data is None else cls(data["task"], hashable(data["response"]))


class Known(NamedTuple):
    """What may be said of a response whose description is known."""

    answers: tuple[Instruction, ...]
    only: bool = False  # whether everything else is wrong; else other words may be right, too
    practice: bool = False  # whether it comes first, and its teacher is told the answers
    matched: bool | None = None  # whether the response did what was asked, if that is known

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> Known | None:
        """As the data of an ``asked`` event has it."""
        return None if data is None else cls(**dict(data) | {"answers": tuple(data["answers"])})


class AskedRound(NamedTuple):
    """The request of a round, the agent's choice, and the version of the agent.

    Where responses are too many to list, the choice is a place in the agent's shortlist, and
    ``drawn`` is the response itself. Where another policy acted, the choice is what it did, and
    ``advice`` is the agent's choice, as ``Choice.to_data`` gives it. ``part`` is what a round
    is for, if not for a request.
    """

    instruction: Instruction
    choice: Choice
    version: int
    drawn: Drawn | None = None
    advice: Data | None = None
    part: RoundPart | None = None
    known: Known | None = None


class RoundRow(NamedTuple):
    """A row of the table of rounds."""

    number: int
    status: RoundStatus
    asked: int
    described: int | None
    describer: str | None
    second: int | None
    wants_second: bool
    claimed_by: str | None
    claimed_until: float | None
    matched: bool | None
    part: str | None


def parse_asked(data: Mapping[str, Any]) -> AskedRound:
    """The request and choice in the data of an ``asked`` event."""
    choice = Choice.from_data(data, np.array(data["features"], dtype=np.float64))
    drawn = Drawn.from_data(data.get("drawn"))
    part = RoundPart(data["part"]) if "part" in data else None
    known = Known.from_data(data.get("known"))
    return AskedRound(
        data["instruction"], choice, data["version"], drawn, data.get("advice"), part, known
    )


COLUMNS = [rounds.c[name] for name in RoundRow._fields]

# Built once, as in ``log``.
_OPEN = insert(rounds).execution_options(**ADD)
_THIS = (rounds.c.lesson == bindparam("this_lesson"), rounds.c.number == bindparam("this_number"))
_FIND = select(*COLUMNS).where(*_THIS)
_LOCK = (
    select(*COLUMNS, events.c.seq, events.c.kind, events.c.account, events.c.data, seen.c.account)
    .join(events, (events.c.lesson == rounds.c.lesson) & (events.c.round == rounds.c.number))
    .outerjoin(
        seen,
        (seen.c.lesson == rounds.c.lesson)
        & (seen.c.round == rounds.c.number)
        & (seen.c.account == bindparam("this_account")),
    )
    .where(*_THIS)  # not ordered: else SQLite would read the whole log in order
    .with_for_update(of=rounds)
)
_CHANGE = update(rounds).where(*_THIS).execution_options(**LATER)
_EVENT = select(events.c.data).where(
    events.c.lesson == bindparam("lesson"), events.c.seq == bindparam("seq")
)


def asked_data(asked: AskedRound) -> Data:
    """The data of an ``asked`` event."""
    choice, drawn = asked.choice, asked.drawn
    return {
        "instruction": asked.instruction,
        "features": choice.features.tolist(),
        **choice.to_data(),
        "version": asked.version,
        **({} if drawn is None else {"drawn": drawn._asdict()}),
        **({} if asked.advice is None else {"advice": asked.advice}),
        **({} if asked.part is None else {"part": asked.part.value}),
        **({} if asked.known is None else {"known": asked.known._asdict()}),
    }


def open_round(
    log: LessonLog,
    *,
    number: int,
    asked: AskedRound,
    features: Array,
    content: Content,
    account: str | None,
    wants_second: bool = False,
    claim: tuple[str, float] | None = None,
) -> int:
    """Store a new round. Returns the number of its event."""
    data = asked_data(asked)
    seq = log.append(Kind.ASKED, data, round=number, account=account)
    add_task(log, number, features, content)
    log.connection.execute(
        _OPEN,
        {
            "lesson": log.lesson,
            "number": number,
            "status": first_status(asked.part).value,
            "asked": seq,
            "wants_second": wants_second,
            "claimed_by": claim[0] if claim else None,
            "claimed_until": claim[1] if claim else None,
            "estimate": data["estimate"],
            "width": data["width"],
            "highest": data["highest"],
            "part": data.get("part"),
        },
    )
    return seq


def first_status(part: str | None) -> RoundStatus:
    """The status of a round when it is asked."""
    return RoundStatus.KNOWN if part == RoundPart.KNOWN.value else RoundStatus.OPEN


def find_round(connection: Connection, lesson: str, number: int) -> RoundRow:
    """A round by its number; an error if there is none."""
    which = {"this_lesson": lesson, "this_number": number}
    row = connection.execute(_FIND, which).one_or_none()
    if row is None:
        raise _unknown(number)
    return round_row(row)


def refuse_held(round: RoundRow, account: str | None) -> None:
    """Refuse a change while a lease lasts that is not this account's own."""
    held = round.claimed_by not in (None, account) and (round.claimed_until or 0) >= time.time()
    if held:
        who = "somebody" if account is None else "somebody else"
        raise ConflictError("claimed", f"Round {round.number} is with {who} now.")


class PastEvent(NamedTuple):
    """An event of a round."""

    seq: int
    kind: Kind
    account: str | None
    data: str  # JSON


class LockedRound(NamedTuple):
    """A round that is about to change, with all its events."""

    row: RoundRow
    events: list[PastEvent]
    noted: bool  # whether the account is noted as one that has seen the request

    def event(self, seq: int) -> PastEvent:
        """One of its events."""
        return next(event for event in self.events if event.seq == seq)

    def data(self, seq: int) -> Data:
        """The data of one of its events."""
        data: Data = json.loads(self.event(seq).data)
        return data


def lock_round(log: LessonLog, number: int, account: str) -> LockedRound:
    """A round that an account is about to change: nobody else can claim it meanwhile."""
    which = {"this_lesson": log.lesson, "this_number": number, "this_account": account}
    rows = log.connection.execute(_LOCK, which).all()
    if not rows:
        raise _unknown(number)
    own = len(RoundRow._fields)
    row = RoundRow(*rows[0][:own])._replace(status=RoundStatus(rows[0][1]))
    past = [PastEvent(seq, Kind(kind), *rest) for seq, kind, *rest, _ in (r[own:] for r in rows)]
    return LockedRound(row, sorted(past), rows[0][-1] is not None)


def _unknown(number: int) -> UnknownNameError:
    return UnknownNameError(f"There is no round {number} in this lesson.")


def round_row(row: Any) -> RoundRow:
    """A round from its row."""
    return RoundRow(*row)._replace(status=RoundStatus(row.status))


def find_asked(connection: Connection, lesson: str, round: RoundRow) -> AskedRound:
    """The request of a round and the agent's choice."""
    return parse_asked(event_data(connection, lesson, round.asked))


def event_data(connection: Connection, lesson: str, seq: int) -> Data:
    """The data of an event."""
    row = connection.execute(_EVENT, {"lesson": lesson, "seq": seq})
    data: Data = json.loads(row.scalar_one())
    return data


def change_round(log: LessonLog, number: int, **values: Any) -> None:
    """Change the row of a round, after its event was added to the log."""
    which = {"this_lesson": log.lesson, "this_number": number}
    log.connection.execute(_CHANGE, which | values)


def counts_by_status(connection: Connection, lesson: str) -> dict[str, int]:
    """Number of rounds by status."""
    query = (
        select(rounds.c.status, func.count())
        .where(rounds.c.lesson == lesson)
        .group_by(rounds.c.status)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


class ReadRound(NamedTuple):
    """A round with the data of its request and of its description."""

    row: RoundRow
    asked: Data
    told: Data | None


def read_rounds(
    connection: Connection,
    lesson: str,
    after: int,
    most: int,
    *,
    status: str | None = None,
    describer: str | None = None,
) -> list[ReadRound]:
    """At most so many rounds numbered above ``after``, by number, that meet some conditions."""
    asked = events.alias("asked")
    query = (
        select(*COLUMNS, asked.c.data.label("asked_data"), events.c.data.label("told_data"))
        .join(asked, (asked.c.lesson == rounds.c.lesson) & (asked.c.seq == rounds.c.asked))
        .outerjoin(
            events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.described)
        )
        .where(rounds.c.lesson == lesson, rounds.c.number > after)
        .order_by(rounds.c.number)
        .limit(most)
    )
    if status is not None:
        query = query.where(rounds.c.status == status)
    if describer is not None:
        query = query.where(rounds.c.describer == describer)
    return [
        ReadRound(
            RoundRow(*row[:-2])._replace(status=RoundStatus(row.status)),
            json.loads(row.asked_data),
            json.loads(row.told_data) if row.told_data else None,
        )
        for row in connection.execute(query)
    ]
