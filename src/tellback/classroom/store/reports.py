"""Numbers about a lesson (rounds, teachers, checks), and over all lessons, for monitoring."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from tellback.arrays import Array
from tellback.classroom.store.log import Kind, find_active_spans, in_spans
from tellback.classroom.store.rounds import RoundPart, RoundStatus
from tellback.classroom.store.tables import (
    accounts,
    deliveries,
    events,
    leases,
    lessons,
    rounds,
)


class TeacherCount(NamedTuple):
    """Counts of one teacher in a lesson."""

    account: str
    name: str
    described: int
    matched: int
    counted: int
    second: int
    agreed: int


class Columns(NamedTuple):
    """A number for each round, NaN if missing."""

    estimates: Array
    widths: Array
    highest: Array
    matches: Array
    described: Array
    """The event of the description."""


def round_columns(connection: Connection, lesson: str) -> Columns:
    """The agent's statements in each round, and whether the description matched the request."""
    names = ("estimate", "width", "highest", "matched", "described")
    query = (
        select(*(rounds.c[name] for name in names))
        .where(
            rounds.c.lesson == lesson,
            rounds.c.part.is_distinct_from(RoundPart.KNOWN.value),  # the agent was not asked
        )
        .order_by(rounds.c.number)
    )
    rows = [tuple(row) for row in connection.execute(query)]
    table = np.array(rows, dtype=np.float64).reshape(-1, len(names))
    return Columns(*table.T)


def teacher_counts(
    connection: Connection, lesson: str, others: Iterable[str] = ()
) -> list[TeacherCount]:
    """Counts of each teacher, the most descriptions first; and of some ``others``."""
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
    for who, agrees in _seconds(connection, lesson):
        agreed.setdefault(who, []).append(agrees)
    return sorted(
        (
            TeacherCount(
                who,
                names.get(who, who),
                *described.get(who, (0, 0, 0)),
                len(agreed.get(who, [])),
                sum(agreed.get(who, [])),
            )
            for who in described.keys() | agreed.keys() | set(others)
        ),
        key=lambda one: (-one.described, one.name),
    )


def checks(connection: Connection, lesson: str) -> list[bool]:
    """For each blind check, in order: whether the right response was picked.

    Without checks that were rolled back.
    """
    spans = find_active_spans(connection, lesson)
    query = (
        select(events.c.seq, events.c.data)
        .where(events.c.lesson == lesson, events.c.kind == Kind.CHECKED.value)
        .order_by(events.c.seq)
    )
    picked = [json.loads(row.data) for row in connection.execute(query) if in_spans(spans, row.seq)]
    return [data["right"] for data in picked if "right" in data]


def agreement(connection: Connection, lesson: str) -> list[bool]:
    """For each active second description, in order: whether it agreed with the first.

    Without those of which that is not known, and those of teachers who had seen the request.
    """
    return [agrees for _, agrees in _seconds(connection, lesson)]


def _seconds(connection: Connection, lesson: str) -> list[tuple[str, bool]]:
    """Account and agreement of each active second description that counts, in order."""
    query = (
        select(events.c.account, events.c.data)
        .join(rounds, (rounds.c.lesson == events.c.lesson) & (rounds.c.second == events.c.seq))
        .where(events.c.lesson == lesson, events.c.kind == Kind.SECOND.value)
        .order_by(events.c.seq)
    )
    rows = connection.execute(query)
    given = [(row.account, json.loads(row.data)) for row in rows]
    return [
        (who, data["agrees"])
        for who, data in given
        if data["agrees"] is not None and not data["saw_request"]
    ]


def service_counts(connection: Connection) -> dict[str, int]:
    """Lessons, descriptions, open rounds, waiting deliveries, and leases."""

    def count(*conditions: Any) -> int:
        return connection.execute(select(func.count()).where(*conditions)).scalar_one()

    return {
        "lessons": count(lessons.c.id.is_not(None)),
        "descriptions": count(rounds.c.described.is_not(None)),
        "descriptions_given": count(events.c.kind == Kind.DESCRIBED.value),
        "open_rounds": count(rounds.c.status == RoundStatus.OPEN.value),
        "outbox_backlog": count(deliveries.c.due.is_not(None)),
        "leases_held": count(leases.c.until >= time.time()),
    }
