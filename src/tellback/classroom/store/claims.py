"""Claims: a lease on a response, so that no two teachers get the same one."""

from __future__ import annotations

import time

from sqlalchemy import Connection, exists, or_, select, update

from tellback.classroom.store.log import Kind
from tellback.classroom.store.rounds import COLUMNS, RoundRow, RoundStatus, round_row
from tellback.classroom.store.seen import not_seen
from tellback.classroom.store.tables import events, rounds


def claim_round(connection: Connection, lesson: str, account: str, until: float) -> RoundRow | None:
    """Lease a response to a teacher until some time; None if there is none to describe.

    One statement finds and leases it, so no two teachers get the same one. A teacher who holds a
    response gets it again. Next are responses that want a second description, then open ones, and
    last those that others have skipped, but not the teacher.
    """
    now = time.time()
    free = or_(
        rounds.c.claimed_by.is_(None), rounds.c.claimed_until < now, rounds.c.claimed_by == account
    )
    here = rounds.c.lesson == lesson
    is_open = rounds.c.status == RoundStatus.OPEN.value
    is_skipped = rounds.c.status == RoundStatus.SKIPPED.value
    wants_second = (
        rounds.c.wants_second.is_(True)
        & rounds.c.second.is_(None)
        & (rounds.c.status == RoundStatus.DESCRIBED.value)
        & (rounds.c.describer != account)
        & not_seen(account)
    )
    has_skipped = exists().where(
        events.c.lesson == rounds.c.lesson,
        events.c.round == rounds.c.number,
        events.c.account == account,
        events.c.kind == Kind.SKIPPED.value,
    )
    held = (rounds.c.claimed_by == account) & (rounds.c.claimed_until >= now)
    kinds = [
        (held, or_(is_open, is_skipped, wants_second)),
        (wants_second, free),
        (is_open, free),
        (is_skipped, ~has_skipped, free),
    ]
    for conditions in kinds:
        which = (
            select(rounds.c.number)
            .where(here, *conditions)
            .order_by(rounds.c.number)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        taken = connection.execute(
            update(rounds)
            .where(here, rounds.c.number == which.scalar_subquery(), *conditions)
            .values(claimed_by=account, claimed_until=until)
            .returning(*COLUMNS)
        ).one_or_none()
        if taken is not None:
            return round_row(taken)
    return None


def prolong_claim(
    connection: Connection, lesson: str, number: int, account: str, until: float
) -> bool:
    """Extend a teacher's lease; False if the teacher does not have it any more."""
    done = connection.execute(
        update(rounds)
        .where(rounds.c.lesson == lesson, rounds.c.number == number, rounds.c.claimed_by == account)
        .values(claimed_until=until)
    )
    return bool(done.rowcount)
