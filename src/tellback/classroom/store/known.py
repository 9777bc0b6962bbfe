"""Rounds whose answers are known, and what teachers said of them."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog, find_active_spans, in_spans
from tellback.classroom.store.rounds import (
    AskedRound,
    RoundPart,
    RoundStatus,
    change_round,
    lock_round,
    parse_asked,
)
from tellback.classroom.store.seen import is_noted
from tellback.classroom.store.tables import events, rounds
from tellback.roles import Instruction

TURNS = (
    Kind.DESCRIBED,
    Kind.SECOND,
    Kind.ANSWERED,
    Kind.SKIPPED,
    Kind.CANNOT_TELL,
    Kind.FLAGGED,
)
"""The kinds after which a teacher gets another response."""


class KnownRound(NamedTuple):
    """A round whose answers are known."""

    round: int
    asked: AskedRound
    author: str | None


class GivenAnswer(NamedTuple):
    """What a teacher said of such a round."""

    known: KnownRound
    account: str
    description: Instruction


_KNOWN = (
    select(rounds.c.number, events.c.data, events.c.account)
    .join(events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.asked))
    .order_by(rounds.c.number)
)


def known_rounds(connection: Connection, lesson: str) -> list[KnownRound]:
    """All rounds whose answers are known, in order."""
    known = rounds.c.status == RoundStatus.KNOWN.value
    rows = connection.execute(_KNOWN.where(rounds.c.lesson == lesson, known))
    return [KnownRound(row.number, parse_asked(json.loads(row.data)), row.account) for row in rows]


def answered_rounds(connection: Connection, lesson: str, account: str) -> set[int]:
    """The known rounds that an account has seen: a rollback does not change that."""
    query = select(events.c.round).where(
        events.c.lesson == lesson,
        events.c.account == account,
        events.c.kind == Kind.ANSWERED.value,
    )
    return set(connection.execute(query).scalars())


def holds_known(connection: Connection, lesson: str, number: int, account: str) -> bool:
    """Whether an account was given a known round, and has not answered yet: as with a claim."""
    if not is_noted(connection, lesson, number, account):
        return False
    query = (
        select(events.c.data)
        .where(
            events.c.lesson == lesson,
            events.c.round == number,
            events.c.account == account,
            events.c.kind == Kind.ANSWERED.value,
        )
        .order_by(events.c.seq.desc())
        .limit(1)
    )
    latest = connection.execute(query).scalar()
    return latest is None or json.loads(latest).get("outcome") == Kind.WITHDRAWN.value


def count_turns(connection: Connection, lesson: str, account: str) -> int:
    """How many responses a teacher has dealt with."""
    query = select(func.count()).where(
        events.c.lesson == lesson,
        events.c.account == account,
        events.c.kind.in_([kind.value for kind in TURNS]),
    )
    return connection.execute(query).scalar_one()


def given_answers(connection: Connection, lesson: str) -> list[GivenAnswer]:
    """The latest answer of each teacher to each known round, without what was rolled back."""
    known = {one.round: one for one in known_rounds(connection, lesson)}
    if not known:
        return []
    spans = find_active_spans(connection, lesson)
    query = (
        select(events.c.seq, events.c.round, events.c.account, events.c.data)
        .where(
            events.c.lesson == lesson,
            events.c.round.in_(known),
            events.c.kind == Kind.ANSWERED.value,
        )
        .order_by(events.c.seq)
    )
    found: dict[tuple[int, str], GivenAnswer] = {}
    for row in connection.execute(query):
        if not in_spans(spans, row.seq):
            continue
        said = json.loads(row.data).get("description")
        if said is None:  # skipped, or taken back
            found.pop((row.round, row.account), None)
        else:
            found[row.round, row.account] = GivenAnswer(known[row.round], row.account, said)
    return list(found.values())


def count_said(connection: Connection, lesson: str) -> int:
    """How many descriptions teachers have given, second ones and answers to known rounds included.

    Without practice. So the count moves with each, and tells no teacher which answers are known.
    """
    mine = rounds.c.lesson == lesson
    first = select(func.count()).where(mine, rounds.c.described.is_not(None))
    second = (
        select(func.count())
        .join_from(
            rounds, events, (rounds.c.lesson == events.c.lesson) & (rounds.c.second == events.c.seq)
        )
        .where(mine, events.c.kind == Kind.SECOND.value)
    )
    counts = (connection.execute(query).scalar_one() for query in (first, second))
    answers = (one.known.asked.known for one in given_answers(connection, lesson))
    return sum(counts) + sum(known is not None and not known.practice for known in answers)


def drop_known(log: LessonLog, number: int, account: str) -> None:
    """Give a known round to nobody any more. Answers to it count no longer."""
    round = lock_round(log, number, account).row
    if round.status is not RoundStatus.KNOWN:
        raise ConflictError("not_known", f"Round {number} has no known answers.")
    assert round.part == RoundPart.KNOWN.value
    log.append(Kind.CANNOT_TELL, {"note": "not known"}, round=number, account=account)
    change_round(log, number, status=RoundStatus.CANNOT_TELL.value, describer=account)
