"""Rollback to an earlier event, and redaction: deleting a teacher's words."""

from __future__ import annotations

from tellback.classroom.store.idempotency import delete_answers_to
from tellback.classroom.store.lessons import all_lessons
from tellback.classroom.store.log import writing
from tellback.classroom.store.rollback import redact, roll_back
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsAdmin, AsEngineer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.log import (
    AccountId,
    RedactedAnswer,
    RollbackTarget,
    RolledBack,
)

router = api_router("log", 404, 422)


@router.post("/lessons/{lesson}/rollback")
def roll_back_to(
    body: RollbackTarget, room: AClassroom, learner: ALearner, caller: AsEngineer
) -> RolledBack:
    """Restore the state after an event; the agent forgets all later descriptions.

    The log forgets nothing: a rollback is an event too, and can be rolled back.
    """
    with writing(room.database, learner.lesson) as log:
        active = roll_back(log, body.to, caller.account)
    learner.catch_up()
    return RolledBack(event=log.latest, descriptions=active)


@router.delete("/lessons/{lesson}/teachers/{account}/data")
def redact_here(
    account: AccountId, room: AClassroom, learner: ALearner, caller: AsAdmin
) -> RedactedAnswer:
    """Delete a teacher's words in this lesson, and unlearn them."""
    return _redacted(room, [learner.lesson], account, caller.account)


@router.delete("/teachers/{account}/data")
def redact_everywhere(account: AccountId, room: AClassroom, caller: AsAdmin) -> RedactedAnswer:
    """Delete a teacher's words in all lessons, and unlearn them."""
    with room.database.read() as connection:
        found = [lesson.id for lesson in all_lessons(connection)]
    return _redacted(room, found, account, caller.account)


def _redacted(room: Classroom, found: list[str], teacher: str, account: str) -> RedactedAnswer:
    redacted = {}
    for lesson in found:
        with writing(room.database, lesson) as log:
            redacted[lesson] = redact(log, teacher, account)
    with room.database.write() as connection:
        delete_answers_to(connection, teacher)
    touched = [lesson for lesson, events in redacted.items() if events]
    for lesson in touched:
        room.learner(lesson).catch_up()
    return RedactedAnswer(
        events=sum(redacted.values()), lessons=len(touched), scrubbed=room.database.scrub()
    )
