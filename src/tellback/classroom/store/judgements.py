"""Judgements: people say whether the response of a round did what was asked."""

from __future__ import annotations

import json

from sqlalchemy import Connection, or_, select

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog, find_active_spans, in_spans
from tellback.classroom.store.rounds import find_round
from tellback.classroom.store.tables import events, rounds


def keep_judgement(log: LessonLog, number: int, account: str, met: bool | None) -> None:
    """Store a judgement; None if somebody cannot tell. The latest of a round counts.

    A round is judged after it was described: who judges sees the request.
    """
    round = find_round(log.connection, log.lesson, number)
    if round.described is None:
        raise ConflictError("not_described", f"Round {number} must be described before.")
    if round.wants_second and round.second is None:
        raise ConflictError("not_described", f"Round {number} waits for a second description.")
    log.append(Kind.JUDGED, {"met": met}, round=number, account=account)


def judgements(connection: Connection, lesson: str) -> dict[int, bool | None]:
    """The latest judgement of each round that has one, without those that were rolled back."""
    spans = find_active_spans(connection, lesson)
    query = (
        select(events.c.seq, events.c.round, events.c.data)
        .where(events.c.lesson == lesson, events.c.kind == Kind.JUDGED.value)
        .order_by(events.c.seq)
    )
    found = {}
    for row in connection.execute(query):
        data = json.loads(row.data)
        if in_spans(spans, row.seq) and not data.get("redacted"):
            found[row.round] = data.get("met")
    return found


def judged_rounds(connection: Connection, lesson: str) -> list[int]:
    """The rounds that may be judged: described, and waiting for no second description."""
    query = select(rounds.c.number).where(
        rounds.c.lesson == lesson,
        rounds.c.described.is_not(None),
        rounds.c.part.is_(None),  # else nothing was asked
        or_(rounds.c.wants_second.is_(False), rounds.c.second.is_not(None)),
    )
    return list(connection.execute(query).scalars())
