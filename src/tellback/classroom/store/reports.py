"""What a lesson's tables say about how it goes."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from tellback.arrays import Array
from tellback.classroom.store.log import Kind, counts, spans_in_force
from tellback.classroom.store.tables import accounts, events, progress, rounds


class TeacherCount(NamedTuple):
    """What one teacher has done in a lesson."""

    account: str
    name: str
    described: int
    matched: int
    counted: int
    second: int
    agreed: int


class CurvePoint(NamedTuple):
    """How many held-out requests were answered rightly after so many descriptions."""

    described: int
    right: int
    requests: int


class Columns(NamedTuple):
    """A number for each round, NaN where there is none."""

    estimates: Array
    widths: Array
    highest: Array
    matches: Array


def round_columns(connection: Connection, lesson: str) -> Columns:
    """What the agent stated in each round, and whether what was told is what was asked."""
    query = (
        select(rounds.c.estimate, rounds.c.width, rounds.c.highest, rounds.c.matched)
        .where(rounds.c.lesson == lesson)
        .order_by(rounds.c.number)
    )
    rows = [tuple(row) for row in connection.execute(query)]
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return Columns(*table.T)


def curve(connection: Connection, lesson: str) -> list[CurvePoint]:
    """The success curve on held-out requests, as far as it was worked out."""
    query = (
        select(progress.c.described, progress.c.right, progress.c.requests)
        .where(progress.c.lesson == lesson)
        .order_by(progress.c.seq)
    )
    return [CurvePoint(*row) for row in connection.execute(query)]


def teacher_counts(connection: Connection, lesson: str) -> list[TeacherCount]:
    """What each teacher has done, those who did most first."""
    names = {row.id: row.name for row in connection.execute(select(accounts.c.id, accounts.c.name))}
    described: dict[str, tuple[int, int, int]] = {
        row[0]: (row[1], row[2], row[3])
        for row in connection.execute(
            select(
                rounds.c.describer,
                func.count(),
                func.count().filter(rounds.c.matched.is_(True)),
                func.count().filter(rounds.c.matched.is_not(None)),
            )
            .where(rounds.c.lesson == lesson, rounds.c.described.is_not(None))
            .group_by(rounds.c.describer)
        )
    }
    agreed: dict[str, list[bool]] = {}
    seconds = (
        select(events.c.account, events.c.data)
        .join(rounds, (rounds.c.lesson == events.c.lesson) & (rounds.c.second == events.c.seq))
        .where(events.c.lesson == lesson, events.c.kind == Kind.SECOND.value)
    )
    for row in connection.execute(seconds):
        agreed.setdefault(row.account, []).append(json.loads(row.data)["agrees"])
    return sorted(
        (
            TeacherCount(
                who,
                names.get(who, who),
                *described.get(who, (0, 0, 0)),
                len(agreed.get(who, [])),
                sum(agreed.get(who, [])),
            )
            for who in described.keys() | agreed.keys()
        ),
        key=lambda one: (-one.described, one.name),
    )


def checks(connection: Connection, lesson: str) -> tuple[int, int]:
    """How many blind checks there were, and in how many the right response was picked.

    Those that were rolled back are not counted.
    """
    spans = spans_in_force(connection, lesson)
    query = select(events.c.seq, events.c.data).where(
        events.c.lesson == lesson, events.c.kind == Kind.CHECKED.value
    )
    picked = [json.loads(row.data) for row in connection.execute(query) if counts(spans, row.seq)]
    right = [data["right"] for data in picked if "right" in data]
    return len(right), sum(right)


def agreement(counts: list[TeacherCount]) -> tuple[int, int]:
    """How many second descriptions there were, and how many agreed with the first."""
    return sum(one.second for one in counts), sum(one.agreed for one in counts)
