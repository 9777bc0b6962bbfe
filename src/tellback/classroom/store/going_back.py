"""Going back: to an earlier event, or to what a lesson is without somebody's words."""

from __future__ import annotations

import json

from sqlalchemy import delete, select, update

from tellback.classroom.store.log import (
    STANDING_CHANGES,
    TOMBSTONE,
    Kind,
    LessonLog,
    read_events,
    standing,
)
from tellback.classroom.store.rounds import Status, change_round, standing_rounds
from tellback.classroom.store.tables import checkpoints, events, progress, rounds
from tellback.errors import SettingError


def roll_back(log: LessonLog, to: int, account: str) -> int:
    """Let stand what stood after an event, and nothing that came later; how many are left.

    The log keeps all of it: rolling back is an event too, and can itself be rolled back.
    """
    if not 0 <= to <= log.latest:
        raise SettingError(f"to must be an event from 0 to {log.latest}, not {to!r}.")
    log.append(Kind.ROLLED_BACK, {"to": to}, account=account)
    return _settle_standing(log)


def redact(log: LessonLog, teacher: str, account: str) -> int:
    """Delete what somebody said in a lesson, and unlearn it; how many events became tombstones.

    Checkpoints and progress that knew of it are deleted too.
    """
    mine = (
        events.c.lesson == log.lesson,
        events.c.account == teacher,
        events.c.kind.not_in([Kind.ASKED.value, Kind.ROLLED_BACK.value, Kind.REDACTED.value]),
        events.c.data != json.dumps(TOMBSTONE),
    )
    changed = log.connection.execute(update(events).where(*mine).values(data=json.dumps(TOMBSTONE)))
    count = changed.rowcount
    log.append(Kind.REDACTED, {"teacher": teacher, "events": count}, account=account)
    log.connection.execute(delete(checkpoints).where(checkpoints.c.lesson == log.lesson))
    log.connection.execute(delete(progress).where(progress.c.lesson == log.lesson))
    seconds = select(events.c.seq).where(
        events.c.lesson == log.lesson,
        events.c.account == teacher,
        events.c.kind == Kind.SECOND.value,
    )
    log.connection.execute(
        update(rounds)
        .where(rounds.c.lesson == log.lesson, rounds.c.second.in_(seconds))
        .values(second=None, wants_second=False)
    )
    _settle_standing(log)
    return count


def _settle_standing(log: LessonLog) -> int:
    """Make the table of rounds say what stands after all events."""
    happened = read_events(log.connection, log.lesson, kinds=STANDING_CHANGES)
    stands = standing(happened)
    before = standing_rounds(log.connection, log.lesson)
    for number in before.keys() - stands.keys():
        change_round(log, number, status=Status.ROLLED_BACK.value, described=None, matched=None)
    changed = {number: seq for number, seq in stands.items() if before.get(number) != seq}
    for number, seq in changed.items():
        row = log.connection.execute(
            select(events.c.account, events.c.data).where(
                events.c.lesson == log.lesson, events.c.seq == seq
            )
        ).one()
        data = json.loads(row.data)
        change_round(
            log,
            number,
            status=Status.DESCRIBED.value,
            described=seq,
            describer=row.account,
            matched=None if data["saw_request"] else data["matched"],
            claimed_by=None,
            claimed_until=None,
        )
    return len(stands)
