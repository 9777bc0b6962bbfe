"""Going back to an earlier event, and deleting somebody's words."""

from __future__ import annotations

from fastapi import APIRouter

from tellback.classroom.store.lessons import all_lessons
from tellback.classroom.store.log import writing
from tellback.classroom.store.rollback import delete_answers_to, redact, roll_back
from tellback.classroom.web.api.access import AClassroom, ALearner, AsAdmin, AsEngineer
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.log_bodies import AccountId, BackTo, RedactedAnswer, WentBack
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.strict_json import StrictRoute

router = APIRouter(
    route_class=StrictRoute, tags=["going back"], responses=refusals(401, 403, 404, 422)
)


@router.post("/lessons/{lesson}/rollback")
def go_back(body: BackTo, room: AClassroom, learner: ALearner, caller: AsEngineer) -> WentBack:
    """Let stand what stood after an event; the agent never knew what came later.

    The log forgets nothing: this is an event too, and one can go back to before it.
    """
    with writing(room.database, learner.lesson) as log:
        standing = roll_back(log, body.to, caller.account)
    learner.catch_up()
    return WentBack(event=log.latest, descriptions=standing)


@router.delete("/lessons/{lesson}/teachers/{account}/data")
def redact_here(
    account: AccountId, room: AClassroom, learner: ALearner, caller: AsAdmin
) -> RedactedAnswer:
    """Delete what a teacher said in this lesson, and unlearn it."""
    return _redacted(room, [learner.lesson], account, caller.account)


@router.delete("/teachers/{account}/data")
def redact_everywhere(account: AccountId, room: AClassroom, caller: AsAdmin) -> RedactedAnswer:
    """Delete what a teacher said in any lesson, and unlearn it."""
    with room.database.read() as connection:
        found = [lesson.id for lesson in all_lessons(connection)]
    return _redacted(room, found, account, caller.account)


def _redacted(room: Classroom, found: list[str], teacher: str, account: str) -> RedactedAnswer:
    gone = {}
    for lesson in found:
        with writing(room.database, lesson) as log:
            gone[lesson] = redact(log, teacher, account)
    with room.database.write() as connection:
        delete_answers_to(connection, teacher)
    touched = [lesson for lesson, events in gone.items() if events]
    for lesson in touched:
        room.learner(lesson).catch_up()
    return RedactedAnswer(
        events=sum(gone.values()), lessons=len(touched), scrubbed=room.database.scrub()
    )
