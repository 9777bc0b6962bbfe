"""Rollback to an earlier event, and redaction: deleting a teacher's words."""

from __future__ import annotations

from tellback.classroom.store import accounts
from tellback.classroom.store.idempotency import delete_answers_to
from tellback.classroom.store.lessons import all_lessons
from tellback.classroom.store.log import writing
from tellback.classroom.store.rollback import redact, roll_back
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsAdmin, AsEngineer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.log import (
    AuthorName,
    RedactedAnswer,
    RollbackTarget,
    RolledBack,
)

router = api_router("log", 404, 422)


@router.post("/lessons/{lesson}/rollback", operation_id="roll_back")
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


@router.delete("/lessons/{lesson}/teachers/{teacher}/data", operation_id="delete_words")
def redact_here(
    teacher: AuthorName, room: AClassroom, learner: ALearner, caller: AsAdmin
) -> RedactedAnswer:
    """Delete a teacher's words in this lesson, and unlearn them."""
    return _redacted(room, [learner.lesson], teacher, caller.account)


@router.delete("/teachers/{teacher}/data", operation_id="delete_all_words")
def redact_everywhere(teacher: AuthorName, room: AClassroom, caller: AsAdmin) -> RedactedAnswer:
    """Delete a teacher's words in all lessons, and unlearn them."""
    with room.database.read() as connection:
        found = [lesson.id for lesson in all_lessons(connection)]
    return _redacted(room, found, teacher, caller.account)


def _redacted(room: Classroom, found: list[str], teacher: str, account: str) -> RedactedAnswer:
    teacher = accounts.author(room.database, teacher, for_admin=True)
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
        teacher=teacher,
        events=sum(redacted.values()),
        lessons=len(touched),
        scrubbed=room.database.scrub(),
    )
