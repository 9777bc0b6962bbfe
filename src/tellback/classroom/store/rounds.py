"""Rounds and their current state.

Every change is an event of the log and, in the same transaction, a change of the table
``rounds``, which is a projection of the log.
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


class RoundStatus(StrEnum):
    """The status of a round."""

    OPEN = "open"
    DESCRIBED = "described"
    SKIPPED = "skipped"
    CANNOT_TELL = "cannot_tell"
    FLAGGED = "flagged"
    ROLLED_BACK = "rolled_back"


class AskedRound(NamedTuple):
    """The request of a round, the agent's choice, and the version of the agent."""

    instruction: Instruction
    choice: Choice
    version: int


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


def parse_asked(data: Mapping[str, Any]) -> AskedRound:
    """The request and choice in the data of an ``asked`` event."""
    given = {
        name: float("nan") if data[name] is None else data[name]
        for name in ("estimate", "bonus", "width", "highest")
    }
    features = np.array(data["features"], dtype=np.float64)
    choice = Choice(data["response"], features, propensity=data["propensity"], **given)
    return AskedRound(data["instruction"], choice, data["version"])


COLUMNS = [rounds.c[name] for name in RoundRow._fields]

# Built once, as in ``log``.
_THIS = (rounds.c.lesson == bindparam("this_lesson"), rounds.c.number == bindparam("this_number"))
_FIND = select(*COLUMNS).where(*_THIS)
_HOLD = _FIND.with_for_update()
_CHANGE = update(rounds).where(*_THIS)
_EVENT = select(events.c.data).where(
    events.c.lesson == bindparam("lesson"), events.c.seq == bindparam("seq")
)


def find_round(connection: Connection, lesson: str, number: int) -> RoundRow:
    """A round by its number; an error if there is none."""
    which = {"this_lesson": lesson, "this_number": number}
    row = connection.execute(_FIND, which).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no round {number} in this lesson.")
    return round_row(row)


def lock_round(log: LessonLog, number: int) -> RoundRow:
    """A round that is about to change, locked: nobody else can claim it meanwhile."""
    which = {"this_lesson": log.lesson, "this_number": number}
    row = log.connection.execute(_HOLD, which).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no round {number} in this lesson.")
    return round_row(row)


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


def find_task(connection: Connection, lesson: str, number: int) -> tuple[bytes, bytes]:
    """The features and the content of a round's task."""
    row = connection.execute(
        select(tasks.c.features, tasks.c.content).where(
            tasks.c.lesson == lesson, tasks.c.round == number
        )
    ).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no round {number} in this lesson.")
    return bytes(row.features), bytes(row.content)


def change_round(log: LessonLog, number: int, **values: Any) -> None:
    """Change the row of a round, after its event was added to the log."""
    which = {"this_lesson": log.lesson, "this_number": number}
    log.connection.execute(_CHANGE, which | values)


def _active() -> Select[Any]:
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


ACTIVE = _active()
"""The active descriptions of a ``lesson`` after an event, in order, with their requests."""

PAGE = 500
ACTIVE_PAGE = ACTIVE.limit(literal_column(str(PAGE)))
"""The first of them. Without a limit, PostgreSQL would plan to read all of them."""


def active_descriptions(connection: Connection, lesson: str) -> dict[int, int]:
    """The event of each round's active description, in the order of these events."""
    query = (
        select(rounds.c.number, rounds.c.described)
        .where(rounds.c.lesson == lesson, rounds.c.described.is_not(None))
        .order_by(rounds.c.described)
    )
    return {row.number: row.described for row in connection.execute(query)}


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


def find_request(connection: Connection, lesson: str, number: int) -> tuple[Instruction, bytes]:
    """The request of a round, and the features of its responses."""
    asked = find_asked(connection, lesson, find_round(connection, lesson, number))
    features, _ = find_task(connection, lesson, number)
    return asked.instruction, features


def counts_by_status(connection: Connection, lesson: str) -> dict[str, int]:
    """Number of rounds by status."""
    query = (
        select(rounds.c.status, func.count())
        .where(rounds.c.lesson == lesson)
        .group_by(rounds.c.status)
    )
    return {row[0]: row[1] for row in connection.execute(query)}
