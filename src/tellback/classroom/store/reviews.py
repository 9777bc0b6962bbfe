"""Reviews: what a reviewer decides about a doubtful, disagreeing or flagged round."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tellback.classroom.store.descriptions import AskedAgain, description_data, withdraw
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog
from tellback.classroom.store.rounds import (
    RoundRow,
    RoundStatus,
    change_round,
    event_data,
    lock_round,
)
from tellback.classroom.store.tables import accounts, events, rounds
from tellback.roles import Instruction

_FREE = {"claimed_by": None, "claimed_until": None}


def accept(log: LessonLog, number: int, reviewer: str) -> None:
    """Accept a round as it is. Its description is sure from now on."""
    round = _lock_reviewable(log, number, reviewer)
    if round.described is not None:
        data = event_data(log.connection, log.lesson, round.described)
        if not data.get("sure"):
            # The words stay those of their teacher.
            data |= {"sure": True, "by": reviewer}
            seq = log.append(Kind.DESCRIBED, data, round=number, account=round.describer)
            change_round(log, number, described=seq)
    log.append(Kind.REVIEWED, {"outcome": "accepted"}, round=number, account=reviewer)


def correct(log: LessonLog, number: int, reviewer: str, description: Instruction) -> None:
    """Put a reviewer's description in the place of another, or of a flag.

    It teaches, and is no sample of the reward: a reviewer may have seen the request.
    """
    _lock_reviewable(log, number, reviewer)
    data = description_data(description, True, None, asked_again=AskedAgain())
    seq = log.append(Kind.DESCRIBED, data, round=number, account=reviewer)
    status = RoundStatus.DESCRIBED.value
    values = {"status": status, "described": seq, "describer": reviewer, "matched": None}
    change_round(log, number, **values, **_FREE)
    log.append(Kind.REVIEWED, {"outcome": "corrected"}, round=number, account=reviewer)


def send(log: LessonLog, number: int, reviewer: str) -> None:
    """Have a round described by another teacher: a second time, or at all."""
    round = lock_round(log, number, reviewer).row
    if round.described is None:
        # Its claim ends at once: the reviewer does not describe it.
        withdraw(log, number, reviewer, 0.0, anyones=True)
        return
    if round.second is not None:
        raise ConflictError("described", f"Round {number} has been described twice.")
    change_round(log, number, wants_second=True, **_FREE)
    log.append(Kind.REVIEWED, {"outcome": "sent"}, round=number, account=reviewer)


class SecondRow(NamedTuple):
    """A round that two teachers have described."""

    round: int
    first: Instruction
    teacher: str  # the account of the first
    second: Instruction
    other: str  # the account of the second
    agrees: bool | None
    saw_request: bool  # whether the second teacher may have seen the request


def read_seconds(connection: Connection, lesson: str) -> list[SecondRow]:
    """All rounds with two active descriptions, in the order of the second ones."""
    first = events.alias("first")
    query = (
        select(rounds.c.number, first.c.data, rounds.c.describer, events.c.data, events.c.account)
        .join(events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.second))
        .join(first, (first.c.lesson == rounds.c.lesson) & (first.c.seq == rounds.c.described))
        .where(rounds.c.lesson == lesson, events.c.kind == Kind.SECOND.value)
        .order_by(events.c.seq)
    )
    found = []
    for number, one, teacher, other, account in connection.execute(query):
        told = json.loads(other)
        if told.get("redacted"):
            continue
        said = json.loads(one)["description"]
        agrees, saw = told["agrees"], told["saw_request"]
        found.append(SecondRow(number, said, teacher, told["description"], account, agrees, saw))
    return found


def flagged_rounds(connection: Connection, lesson: str) -> dict[int, tuple[str, str]]:
    """The account and the note of each flagged round."""
    query = (
        select(events.c.round, events.c.account, events.c.data)
        .join(rounds, (rounds.c.lesson == events.c.lesson) & (rounds.c.number == events.c.round))
        .where(
            rounds.c.lesson == lesson,
            rounds.c.status == RoundStatus.FLAGGED.value,
            events.c.kind == Kind.FLAGGED.value,
        )
        .order_by(events.c.seq)
    )
    rows = connection.execute(query)
    return {row.round: (row.account, json.loads(row.data).get("note", "")) for row in rows}


def kept_when_asked(connection: Connection, lesson: str) -> dict[int, tuple[str, Instruction]]:
    """Account and words of each active description that its teacher kept when asked."""
    query = (
        select(rounds.c.number, events.c.account, events.c.data)
        .join(events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.described))
        .where(rounds.c.lesson == lesson, events.c.data.contains('"sure": true'))
    )
    found = ((row.number, row.account, json.loads(row.data)) for row in connection.execute(query))
    return {
        number: (account, data["description"])
        for number, account, data in found
        if data.get("sure") and "first" not in data
    }


def reviewed_rounds(connection: Connection, lesson: str) -> set[int]:
    """The rounds of which nothing has happened since they were reviewed."""
    kinds = [Kind.DESCRIBED, Kind.SECOND, Kind.FLAGGED, Kind.WITHDRAWN, Kind.REVIEWED]
    query = (
        select(events.c.round, func.max(events.c.seq))
        .where(events.c.lesson == lesson, events.c.kind.in_([kind.value for kind in kinds]))
        .group_by(events.c.round)
    )
    latest = {row[1] for row in connection.execute(query)}
    reviewed = select(events.c.seq, events.c.round).where(
        events.c.lesson == lesson, events.c.kind == Kind.REVIEWED.value
    )
    return {row.round for row in connection.execute(reviewed) if row.seq in latest}


def account_names(connection: Connection) -> dict[str, str]:
    """The name of each account."""
    return {row.id: row.name for row in connection.execute(select(accounts.c.id, accounts.c.name))}


def _lock_reviewable(log: LessonLog, number: int, reviewer: str) -> RoundRow:
    round = lock_round(log, number, reviewer).row
    if round.described is None and round.status is not RoundStatus.FLAGGED:
        says = f"Round {number} has no description to review, and nobody has flagged it."
        raise ConflictError("not_described", says)
    return round
