"""Blind checks: whether a description tells a response apart from the others."""

from __future__ import annotations

import json

from sqlalchemy import Connection, func, or_, select

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog
from tellback.classroom.store.rounds import find_asked, find_round
from tellback.classroom.store.seen import not_seen
from tellback.classroom.store.tables import events, rounds, tasks
from tellback.classroom.store.tasks import FEATURE_BYTES, find_task
from tellback.errors import FieldError
from tellback.roles import Instruction


def round_to_check(
    connection: Connection, lesson: str, account: str, dim: int
) -> tuple[int, Instruction] | None:
    """A random round that somebody else has described and this account has not checked.

    It has at least two responses of ``dim`` features: of one there is nothing to pick.
    """
    mine = select(events.c.round).where(
        events.c.lesson == lesson, events.c.account == account, events.c.kind == Kind.CHECKED.value
    )
    query = (
        select(rounds.c.number, events.c.data)
        .join(events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.described))
        .join(tasks, (tasks.c.lesson == rounds.c.lesson) & (tasks.c.round == rounds.c.number))
        .where(
            rounds.c.lesson == lesson,
            func.length(tasks.c.features) > FEATURE_BYTES * dim,
            rounds.c.describer != account,
            not_seen(account),  # who has judged the round, or read it, knows the response
            rounds.c.number.not_in(mine),
            # The teacher of a second description must not see the first one.
            or_(rounds.c.wants_second.is_(False), rounds.c.second.is_not(None)),
        )
        .order_by(func.random())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else (row.number, json.loads(row.data)["description"])


def keep_check(log: LessonLog, number: int, account: str, picked: int | None) -> tuple[bool, int]:
    """Store a check; None picks none of them. Returns whether it was right, and the response."""
    round = find_round(log.connection, log.lesson, number)
    if round.described is None:
        raise ConflictError("not_described", f"Round {number} has no description to check.")
    if round.describer == account:
        raise ConflictError("own", f"Round {number} was described by you: somebody else checks it.")
    asked = find_asked(log.connection, log.lesson, round)
    if asked.drawn is not None:
        raise ConflictError("one_response", f"Round {number} shows one response: none to pick.")
    choice = asked.choice
    response = choice.response
    features = find_task(log.connection, log.lesson, number).features
    last = len(features) // choice.features.nbytes - 1
    if picked is not None and picked > last:
        raise FieldError("response", f"response must be from 0 to {last}, not {picked}.")
    before = log.connection.execute(
        select(events.c.data).where(
            events.c.lesson == log.lesson,
            events.c.round == number,
            events.c.account == account,
            events.c.kind == Kind.CHECKED.value,
        )
    ).scalar()
    if before is not None:
        if json.loads(before).get("picked", "redacted") != picked:
            raise ConflictError("checked", f"Round {number} was checked by you before.")
        return picked == response, response
    right = picked == response
    log.append(Kind.CHECKED, {"picked": picked, "right": right}, round=number, account=account)
    return right, response
