"""The active descriptions of a lesson: given, and neither withdrawn, rolled back nor redacted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, literal_column, or_, select

from tellback.classroom.store.rounds import Drawn, parse_asked
from tellback.classroom.store.tables import events, rounds
from tellback.roles import Choice, Instruction

PAGE = 500


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
    .where(rounds.c.lesson == bindparam("lesson"), rounds.c.described > bindparam("after"))
    .order_by(rounds.c.described)
    # Without a limit PostgreSQL would plan to read all: it cannot know how few are new.
    .limit(literal_column(str(PAGE)))
)


def read_active(connection: Connection, lesson: str, after: int = 0) -> Iterator[ActiveDescription]:
    """The active descriptions of a lesson after an event, in the order of their events."""
    while True:
        rows = connection.execute(_ACTIVE, {"lesson": lesson, "after": after}).all()
        for row in rows:
            asked, told = parse_asked(json.loads(row.asked_data)), json.loads(row.described_data)
            yield ActiveDescription(
                row.number,
                row.described,
                asked.instruction,
                asked.choice,
                told["description"],
                told["matched"],
                told["saw_request"],
                row.account or "",
                asked.drawn,
            )
        if len(rows) < PAGE:
            return
        after = rows[-1].described


def active_descriptions(connection: Connection, lesson: str) -> dict[int, int]:
    """The event of each round's active description, in the order of these events."""
    query = (
        select(rounds.c.number, rounds.c.described)
        .where(rounds.c.lesson == lesson, rounds.c.described.is_not(None))
        .order_by(rounds.c.described)
    )
    return {row.number: row.described for row in connection.execute(query)}


def count_active(connection: Connection, lesson: str) -> int:
    """Number of active descriptions."""
    query = select(func.count()).where(rounds.c.lesson == lesson, rounds.c.described.is_not(None))
    return connection.execute(query).scalar_one()


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
