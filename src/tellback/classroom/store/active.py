"""The active descriptions of a lesson: given, and neither withdrawn, rolled back nor redacted.

Those that are held out for an exam are not among them: the agent is not taught these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, literal_column, or_, select

from tellback.classroom.store.log import ACTIVE_CHANGES, TOMBSTONE, Kind
from tellback.classroom.store.rounds import AskedRound, Drawn, RoundPart, parse_asked
from tellback.classroom.store.tables import events, rounds
from tellback.roles import Choice, Instruction
from tellback.specs import Data

PAGE = 500

TEACHES = rounds.c.part.is_distinct_from(RoundPart.EXAM.value)
"""Of rounds: descriptions that are held out for the exam are no part of what is taught."""


class ActiveDescription(NamedTuple):
    """An active description, with the request and the response of its round."""

    round: int
    seq: int  # the event of the description
    instruction: Instruction  # x, the request
    choice: Choice
    description: Instruction  # x'
    matched: bool | None = None  # whether the response did what was asked, if that is known
    saw_request: bool = False
    account: str = ""  # the teacher's
    drawn: Drawn | None = None  # where the choice is a place in a shortlist
    sure: bool = False  # whether somebody was asked, and stands by it


_asked = events.alias("asked")
_ACTIVE = (
    select(
        rounds.c.number,
        rounds.c.described,
        events.c.data.label("described_data"),
        events.c.account,
        _asked.c.data.label("asked_data"),
    )
    .join(events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.described))
    .join(_asked, (_asked.c.lesson == rounds.c.lesson) & (_asked.c.seq == rounds.c.asked))
    .where(rounds.c.lesson == bindparam("lesson"), rounds.c.described > bindparam("after"), TEACHES)
    .order_by(rounds.c.described)
    # Without a limit PostgreSQL would plan to read all: it cannot know how few are new.
    .limit(literal_column(str(PAGE)))
)

_CHANGES = (
    select(
        events.c.seq,
        events.c.kind,
        events.c.round,
        events.c.data.label("described_data"),
        events.c.account,
        _asked.c.data.label("asked_data"),
        rounds.c.part,
    )
    .outerjoin(rounds, (rounds.c.lesson == events.c.lesson) & (rounds.c.number == events.c.round))
    .outerjoin(_asked, (_asked.c.lesson == events.c.lesson) & (_asked.c.seq == rounds.c.asked))
    .where(
        events.c.lesson == bindparam("lesson"),
        events.c.seq > bindparam("after"),
        # Tells PostgreSQL's planner, which knows neither number, that the rows are few.
        events.c.seq <= bindparam("upto"),
        events.c.kind.in_([kind.value for kind in ACTIVE_CHANGES]),
    )
    .order_by(events.c.seq)
    .limit(literal_column(str(PAGE)))
)


def read_active(connection: Connection, lesson: str, after: int = 0) -> Iterator[ActiveDescription]:
    """The active descriptions of a lesson after an event, in the order of their events."""
    while True:
        rows = connection.execute(_ACTIVE, {"lesson": lesson, "after": after}).all()
        for row in rows:
            yield _description(row, row.number, row.described, json.loads(row.described_data))
        if len(rows) < PAGE:
            return
        after = rows[-1].described


def read_changes(
    connection: Connection, lesson: str, after: int, upto: int
) -> Iterator[ActiveDescription | None]:
    """Events in (after, upto] that can change which descriptions are active: new descriptions.

    None for any other change: then the active descriptions must be read.
    """
    while True:
        which = {"lesson": lesson, "after": after, "upto": upto}
        rows = connection.execute(_CHANGES, which).all()
        for row in rows:
            told = json.loads(row.described_data)
            plain = row.kind == Kind.DESCRIBED.value and told != TOMBSTONE
            if plain and row.part == RoundPart.EXAM.value:
                continue
            yield _description(row, row.round, row.seq, told) if plain else None
        if len(rows) < PAGE:
            return
        after = rows[-1].seq


def _description(row: Any, round: int, seq: int, told: Data) -> ActiveDescription:
    asked = parse_asked(json.loads(row.asked_data))
    return new_description(asked, round, seq, told, row.account)


def new_description(
    asked: AskedRound, round: int, seq: int, told: Data, account: str | None
) -> ActiveDescription:
    """The description of a round, from the data of its two events."""
    return ActiveDescription(
        round,
        seq,
        asked.instruction,
        asked.choice,
        told["description"],
        told["matched"],
        told["saw_request"],
        account or "",
        asked.drawn,
        told.get("sure", False),
    )


def active_descriptions(connection: Connection, lesson: str) -> dict[int, int]:
    """The event of each round's active description, in the order of these events."""
    query = (
        select(rounds.c.number, rounds.c.described)
        .where(rounds.c.lesson == lesson, rounds.c.described.is_not(None), TEACHES)
        .order_by(rounds.c.described)
    )
    return {row.number: row.described for row in connection.execute(query)}


def count_active(connection: Connection, lesson: str) -> int:
    """Number of active descriptions."""
    mine = rounds.c.lesson == lesson
    query = select(func.count()).where(mine, rounds.c.described.is_not(None), TEACHES)
    return connection.execute(query).scalar_one()


def waiting_for_second(connection: Connection, lesson: str) -> set[int]:
    """The rounds whose description must not be shown: a second teacher is to describe them."""
    query = select(rounds.c.number).where(
        rounds.c.lesson == lesson,
        rounds.c.described.is_not(None),
        rounds.c.wants_second.is_(True),
        rounds.c.second.is_(None),
    )
    return set(connection.execute(query).scalars())


def latest_described(connection: Connection, lesson: str, count: int) -> list[int]:
    """The rounds that were described last, the latest first.

    Without rounds that wait for a second description: its teacher must not learn the request.
    """
    query = (
        select(rounds.c.number)
        .where(
            rounds.c.lesson == lesson,
            rounds.c.described.is_not(None),
            or_(rounds.c.wants_second.is_(False), rounds.c.second.is_not(None)),
        )
        .order_by(rounds.c.described.desc())
        .limit(count)
    )
    return list(connection.execute(query).scalars())
