"""Suggestions: descriptions that a program proposes, for a teacher to accept or to edit."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog, find_active_spans, in_spans
from tellback.classroom.store.rounds import find_round, lock_round, refuse_held
from tellback.classroom.store.tables import events
from tellback.roles import Instruction
from tellback.specs import Data

_SUGGESTED = (
    select(events.c.seq, events.c.data)
    .where(
        events.c.lesson == bindparam("lesson"),
        events.c.round == bindparam("round"),
        events.c.kind == Kind.SUGGESTED.value,
    )
    .order_by(events.c.seq.desc())
)


class Suggestion(NamedTuple):
    """A proposed description, and what proposed it."""

    event: int
    description: Instruction
    by: str

    def used(self, description: Instruction, took: bool) -> Data:
        """What a description that follows it says of it; ``took`` if that began as its words."""
        other = description != self.description
        return {"by": self.by, "edited": other and took, "ignored": other and not took}


def find_suggestion(connection: Connection, lesson: str, number: int) -> Suggestion | None:
    """The latest suggestion for a round, unless it was rolled back or deleted; or None."""
    rows = connection.execute(_SUGGESTED, {"lesson": lesson, "round": number}).all()
    spans = find_active_spans(connection, lesson) if rows else []
    for row in rows:
        data = json.loads(row.data)
        if in_spans(spans, row.seq) and "by" in data:
            return Suggestion(row.seq, data["description"], data["by"])
    return None


def shown_suggestion(connection: Connection, lesson: str, number: int) -> Suggestion | None:
    """The suggestion for a round without a description: a second one is to be independent."""
    if find_round(connection, lesson, number).described is not None:
        return None
    return find_suggestion(connection, lesson, number)


def suggest(
    log: LessonLog, number: int, account: str, description: Instruction, by: str
) -> tuple[int, bool]:
    """Store a suggestion. Returns its event, and whether it is new; the latest is shown.

    It must come before anybody looks at the round: what was written without it counts as such.
    """
    round = lock_round(log, number, account).row
    if round.described is not None:
        raise ConflictError("described", f"Round {number} has been described.")
    refuse_held(round, None)  # the same account may be a program and a teacher
    before = find_suggestion(log.connection, log.lesson, number)
    if before is not None and (before.description, before.by) == (description, by):
        return before.event, False
    data: Data = {"description": description, "by": by}
    return log.append(Kind.SUGGESTED, data, round=number, account=account), True
