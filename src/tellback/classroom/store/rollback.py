"""Rollback to an earlier event, and redaction of somebody's words."""

from __future__ import annotations

import json

from sqlalchemy import delete, update

from tellback.classroom.store.log import TOMBSTONE, Kind, LessonLog
from tellback.classroom.store.projection import rebuild_projection
from tellback.classroom.store.tables import checkpoints, events, progress, rounds
from tellback.errors import FieldError

NOT_THEIRS = (Kind.ASKED, Kind.ROLLED_BACK, Kind.REDACTED)
"""The kinds that are not a teacher's words."""


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
    deleted too. A description that they withdrew stays withdrawn.
    """
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
