"""Going back: to an earlier event, or to what a lesson is without somebody's words."""

from __future__ import annotations

import json

from sqlalchemy import Connection, delete, update

from tellback.classroom.store.log import TOMBSTONE, Kind, LessonLog
from tellback.classroom.store.projection import rebuild_projection
from tellback.classroom.store.tables import answers, checkpoints, events, progress, rounds
from tellback.errors import FieldError

NOT_THEIRS = (Kind.ASKED, Kind.ROLLED_BACK, Kind.REDACTED)
"""What a teacher does not say: what was asked, and what was done to the whole lesson."""


def roll_back(log: LessonLog, to: int, account: str) -> int:
    """Go back to how the lesson stood right after an event; how many descriptions are active.

    The log keeps all of it: rolling back is an event too, and can itself be rolled back. What
    goes back and what does not is told in `tellback.classroom.store.projection`.
    """
    if not 0 <= to <= log.latest:
        raise FieldError("to", f"to must be an event from 0 to {log.latest}, not {to!r}.")
    log.append(Kind.ROLLED_BACK, {"to": to}, account=account)
    return rebuild_projection(log)


def redact(log: LessonLog, teacher: str, account: str) -> int:
    """Delete what somebody said in a lesson, and unlearn it; how many events became tombstones.

    Their descriptions, second descriptions, checks, notes and leases go. Rounds that they
    described or closed are open again, for others. Checkpoints and progress, which knew of their
    words, are deleted. What they took back stays taken back.
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


def forget_answers_to(connection: Connection, account: str) -> None:
    """Delete what is kept of somebody's requests, which would answer them again."""
    connection.execute(delete(answers).where(answers.c.account == account))
