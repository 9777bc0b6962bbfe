"""Rollback to an earlier event, and redaction of somebody's words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from tellback.classroom.store.known import drop_known
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import TOMBSTONE, Kind, LessonLog, read_events
from tellback.classroom.store.projection import rebuild_projection
from tellback.classroom.store.rounds import ANYTHING, RoundPart, RoundStatus
from tellback.classroom.store.tables import checkpoints, events, progress, rounds
from tellback.errors import FieldError

NOT_THEIRS = (Kind.ASKED, Kind.ROLLED_BACK, Kind.REDACTED)
"""The kinds that are not a teacher's words. ``_forget_copies`` takes what was copied into them."""


def roll_back(log: LessonLog, to: int, account: str) -> int:
    """Roll a lesson back to an event. Returns the number of active descriptions.

    The log keeps everything: a rollback is an event too, and can itself be rolled back. See
    `tellback.classroom.store.projection` for what is restored and what is not.
    """
    if not 0 <= to <= log.latest:
        raise FieldError("to", f"to must be an event from 0 to {log.latest}, not {to!r}.")
    log.append(Kind.ROLLED_BACK, {"to": to}, account=account)
    return rebuild_projection(log)


def redact(log: LessonLog, teacher: str, account: str) -> int:
    """Delete somebody's words in a lesson. Returns how many events became tombstones.

    Deletes their descriptions, second descriptions, checks, notes and leases. Rounds that they
    described or closed are open again. Checkpoints and progress depend on their words and are
    deleted too. A description that they withdrew stays withdrawn. So are copies of what nobody
    else has said: requests that were made of it, and known answers that somebody entered later.
    """
    _forget_copies(log, teacher, account)
    theirs = (
        events.c.lesson == log.lesson,
        events.c.account == teacher,
        events.c.kind.not_in([kind.value for kind in NOT_THEIRS]),
        events.c.data != json.dumps(TOMBSTONE),
    )
    count = log.connection.execute(
        update(events).where(*theirs).values(data=json.dumps(TOMBSTONE))
    ).rowcount
    log.connection.execute(
        update(rounds)
        .where(rounds.c.lesson == log.lesson, rounds.c.claimed_by == teacher)
        .values(claimed_by=None, claimed_until=None)
    )
    if count:
        log.append(Kind.REDACTED, {"teacher": teacher, "events": count}, account=account)
        log.connection.execute(delete(checkpoints).where(checkpoints.c.lesson == log.lesson))
        log.connection.execute(delete(progress).where(progress.c.lesson == log.lesson))
        rebuild_projection(log)
    return count


def _forget_copies(log: LessonLog, teacher: str, account: str) -> None:
    """Delete a teacher's words from requests and known answers: before their own are deleted.

    Rounds then ask for nothing, and a known round without an answer is given to nobody any more.
    """
    definition = find_lesson(log.connection, log.lesson).definition
    material = definition.get("material") is not None
    query = (
        select(events.c.seq, events.c.data, rounds.c.number, rounds.c.part, rounds.c.status)
        .join(rounds, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.asked))
        .where(events.c.lesson == log.lesson)
        .order_by(events.c.seq)
    )
    if not material:  # then requests are those of programs
        query = query.where(rounds.c.part == RoundPart.KNOWN.value)
    asked = log.connection.execute(query).all()
    said = _said_alone(log, teacher, definition.get("answers") or ()) if asked else {}
    changed: list[dict[str, Any]] = []
    for row in asked:
        before = json.loads(row.data)
        data = dict(before)
        if material and data["instruction"] in said:
            data["instruction"] = ANYTHING
            data.setdefault("part", RoundPart.FIRST.value)
        known = data.get("known")
        if known is not None:
            left = [one for one in known["answers"] if said.get(one, row.seq) >= row.seq]
            data["known"] = known | {"answers": left or [ANYTHING]}
            if not left and row.status == RoundStatus.KNOWN.value:
                drop_known(log, row.number, account)
        if data != before:
            values = {"its_data": json.dumps(data), "its_seq": row.seq, "its_part": data["part"]}
            changed.append(values | {"its_lesson": log.lesson})
    if changed:
        log.connection.execute(_CHANGE_ASKED, changed)
        log.connection.execute(_CHANGE_PART, changed)


_CHANGE_ASKED = (
    update(events)
    .where(events.c.lesson == bindparam("its_lesson"), events.c.seq == bindparam("its_seq"))
    .values(data=bindparam("its_data"))
)
_CHANGE_PART = (
    update(rounds)
    .where(rounds.c.lesson == bindparam("its_lesson"), rounds.c.asked == bindparam("its_seq"))
    .values(part=bindparam("its_part"))
)


def _said_alone(log: LessonLog, teacher: str, common: Sequence[str]) -> dict[Any, int]:
    """What a teacher has said in words of their own, and nobody else, with its first event."""
    theirs: dict[Any, int] = {}
    others = set(common)
    for event in read_events(log.connection, log.lesson, kinds=(Kind.DESCRIBED, Kind.SECOND)):
        for one in (event.data.get("description"), event.data.get("first")):
            if isinstance(one, str):
                if event.account == teacher:
                    theirs.setdefault(one, event.seq)
                else:
                    others.add(one)
    return {one: seq for one, seq in theirs.items() if one not in others}
