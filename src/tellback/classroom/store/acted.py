"""Rounds in which another policy acted, and the agent advised."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

from sqlalchemy import Connection, select

from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import events, rounds


class ActedRound(NamedTuple):
    """What another policy did, what the agent advised, and what became of it."""

    number: int
    described: int | None  # the event
    matched: bool | None
    response: int
    propensity: float | None
    advised: int


def acted_rounds(connection: Connection, lesson: str, after: int = 0) -> list[ActedRound]:
    """The rounds above a number in which another policy acted, by description."""
    query = (
        select(rounds.c.number, rounds.c.described, rounds.c.matched, events.c.data)
        .join(events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.asked))
        .where(
            rounds.c.lesson == lesson,
            rounds.c.number > after,
            rounds.c.status != RoundStatus.ROLLED_BACK.value,
            # The agent states an estimate of its own choices: their data need not be read.
            rounds.c.estimate.is_(None),
        )
    )
    found = []
    for row in connection.execute(query):
        data = json.loads(row.data)
        if (advice := data.get("advice")) is not None:
            done = data["response"], data["propensity"], advice["response"]
            found.append(ActedRound(row.number, row.described, row.matched, *done))
    return sorted(found, key=lambda one: (one.described or math.inf, one.number))
