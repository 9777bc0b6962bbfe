"""Requests that no teacher may see yet, because what the agent did is still to be described."""

from __future__ import annotations

import json

from sqlalchemy import and_, or_, select

from tellback.classroom.learning.exam import LATEST
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.rounds import Status
from tellback.classroom.store.tables import events, rounds
from tellback.classroom.web.classroom import Classroom
from tellback.roles import Instruction

STILL_GIVEN = (Status.OPEN.value, Status.SKIPPED.value)


def unseen_requests(room: Classroom, learner: Learner) -> set[Instruction]:
    """What was asked in rounds that somebody will describe, a first or a second time.

    Where requests are held out, none of those that a lesson tells of were asked in a round, and
    so there is nothing to hide. Otherwise it tells of the latest that were asked.
    """
    if learner.exam.judged:
        return set()
    latest = (
        select(rounds.c.asked, rounds.c.status, rounds.c.wants_second, rounds.c.second)
        .where(rounds.c.lesson == learner.lesson)
        .order_by(rounds.c.number.desc())
        .limit(2 * LATEST)  # more may be asked while this is read
        .subquery()
    )
    wants_second = and_(latest.c.wants_second.is_(True), latest.c.second.is_(None))
    query = (
        select(events.c.data)
        .join(latest, latest.c.asked == events.c.seq)
        .where(
            events.c.lesson == learner.lesson,
            or_(latest.c.status.in_(STILL_GIVEN), wants_second),
        )
    )
    with room.database.read() as connection:
        return {json.loads(data)["instruction"] for data in connection.execute(query).scalars()}
