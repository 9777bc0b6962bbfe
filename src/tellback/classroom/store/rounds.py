"""Rounds: where each of them stands.

Every change is an event of the log and, in the same transaction, a change of the table
``rounds``, which can be made again from the log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    Connection,
    Select,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    update,
)

from tellback.classroom.store.log import LessonLog
from tellback.classroom.store.tables import events, rounds, tasks
from tellback.errors import UnknownNameError
from tellback.roles import Choice, Instruction
from tellback.specs import Data


class Status(StrEnum):
    """Where a round stands."""

    OPEN = "open"
    DESCRIBED = "described"
    SKIPPED = "skipped"
    CANNOT_TELL = "cannot_tell"
    FLAGGED = "flagged"
    ROLLED_BACK = "rolled_back"


class Asked(NamedTuple):
    """What was asked in a round and what the agent did, as its event tells it."""

    instruction: Instruction
    choice: Choice
    version: int


class Round(NamedTuple):
    """Where a round stands."""

    number: int
    status: Status
    asked: int
    described: int | None
    describer: str | None
    second: int | None
    wants_second: bool
    claimed_by: str | None
    claimed_until: float | None
    matched: bool | None


def asked_from(data: Mapping[str, Any]) -> Asked:
    """What an event says was asked."""
    choice = Choice.from_data(data, np.array(data["features"], dtype=np.float64))
    return Asked(data["instruction"], choice, data["version"])


COLUMNS = [rounds.c[name] for name in Round._fields]

# Put together once, as are those of the log.
_THIS = (rounds.c.lesson == bindparam("this_lesson"), rounds.c.number == bindparam("this_number"))
_FIND = select(*COLUMNS).where(*_THIS)
_HOLD = _FIND.with_for_update()
_CHANGE = update(rounds).where(*_THIS)
_EVENT = select(events.c.data).where(
    events.c.lesson == bindparam("lesson"), events.c.seq == bindparam("seq")
)


def find_round(connection: Connection, lesson: str, number: int) -> Round:
    """A round, or an error."""
    which = {"this_lesson": lesson, "this_number": number}
    row = connection.execute(_FIND, which).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no round {number} in this lesson.")
    return round_of(row)


def hold_round(log: LessonLog, number: int) -> Round:
    """A round that is about to change: until that is done, nobody else can claim it."""
    which = {"this_lesson": log.lesson, "this_number": number}
    row = log.connection.execute(_HOLD, which).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no round {number} in this lesson.")
    return round_of(row)


def round_of(row: Any) -> Round:
    """A round from its row."""
    return Round(*row)._replace(status=Status(row.status))


def find_asked(connection: Connection, lesson: str, round: Round) -> Asked:
    """What was asked in a round."""
    return asked_from(event_data(connection, lesson, round.asked))


def event_data(connection: Connection, lesson: str, seq: int) -> Data:
    """What an event says."""
    row = connection.execute(_EVENT, {"lesson": lesson, "seq": seq})
    data: Data = json.loads(row.scalar_one())
    return data


def find_task(connection: Connection, lesson: str, number: int) -> tuple[bytes, bytes]:
    """The features and the content of a round."""
    row = connection.execute(
        select(tasks.c.features, tasks.c.content).where(
            tasks.c.lesson == lesson, tasks.c.round == number
        )
    ).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no round {number} in this lesson.")
    return bytes(row.features), bytes(row.content)


def change_round(log: LessonLog, number: int, **values: Any) -> None:
    """Change the table of rounds to what the log says now."""
    which = {"this_lesson": log.lesson, "this_number": number}
    log.connection.execute(_CHANGE, which | values)


def _standing() -> Select[Any]:
    asked = events.alias("asked")
    return (
        select(
            rounds.c.number,
            rounds.c.described,
            events.c.data.label("described_data"),
            asked.c.data.label("asked_data"),
        )
        .join(
            events,
            (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.described),
        )
        .join(asked, (asked.c.lesson == rounds.c.lesson) & (asked.c.seq == rounds.c.asked))
        .where(rounds.c.lesson == bindparam("lesson"), rounds.c.described > bindparam("after"))
        .order_by(rounds.c.described)
    )


STANDING = _standing()
"""The descriptions of a ``lesson`` that stand ``after`` an event, in order, with what was asked."""

PAGE = 500
STANDING_PAGE = STANDING.limit(literal_column(str(PAGE)))
"""The first of them. PostgreSQL, which cannot know how few are new, would read all without."""


def standing_rounds(connection: Connection, lesson: str) -> dict[int, int]:
    """Which description stands of each round, in the order they were given."""
    query = (
        select(rounds.c.number, rounds.c.described)
        .where(rounds.c.lesson == lesson, rounds.c.described.is_not(None))
        .order_by(rounds.c.described)
    )
    return {row.number: row.described for row in connection.execute(query)}


def latest_done(connection: Connection, lesson: str, count: int) -> list[int]:
    """The rounds that were described last, the latest first.

    Not those that somebody is yet to describe, once or again: they must not hear of the request.
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


def find_request(connection: Connection, lesson: str, number: int) -> tuple[Instruction, bytes]:
    """What was asked for in a round, and the features of its responses."""
    asked = find_asked(connection, lesson, find_round(connection, lesson, number))
    features, _ = find_task(connection, lesson, number)
    return asked.instruction, features


def counts_by_status(connection: Connection, lesson: str) -> dict[str, int]:
    """How many rounds there are of each status."""
    query = (
        select(rounds.c.status, func.count())
        .where(rounds.c.lesson == lesson)
        .group_by(rounds.c.status)
    )
    return {row[0]: row[1] for row in connection.execute(query)}
