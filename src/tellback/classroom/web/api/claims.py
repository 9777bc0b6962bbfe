"""Claims: a response to describe, reserved for one teacher."""

from __future__ import annotations

from fastapi import Response

from tellback.classroom.learning.known import next_known
from tellback.classroom.store.claims import prolong_claim
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.known import holds_known
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.rounds import RoundStatus, find_round
from tellback.classroom.store.seen import has_asked, mark_seen
from tellback.classroom.store.suggestions import shown_suggestion
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.problems import not_found
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import content_fields
from tellback.classroom.web.schemas.suggestions import ShownSuggestion
from tellback.classroom.web.schemas.teaching import ClaimAnswer

router = api_router("teaching", 404, 422)


@router.post(
    "/lessons/{lesson}/claims",
    responses={204: {"description": "There is nothing to describe just now."}},
    response_model=ClaimAnswer,
)
def claim(room: AClassroom, learner: ALearner, caller: AsTeacher) -> ClaimAnswer | Response:
    """Claim a response to describe: nobody else gets it while the claim lasts."""
    until = room.lease_end()
    with room.database.read() as connection:
        lesson = find_lesson(connection, learner.lesson)
        if lesson.archived:
            raise ConflictError("archived", "This lesson is in the archive: it shows no responses.")
        share, own = lesson.definition.get("catch", 0.0), not room.settings.accounts
        known = next_known(learner, connection, caller.account, share, own=own)
        claimed = None if known is None else learner.claimed_known(connection, known.round)
    claimed = claimed or learner.claim(caller.account, until)
    if claimed is None:
        return Response(status_code=204)
    number = claimed.task.round
    if known is not None:  # several teachers may have it, so it is nobody's lease
        mark_seen(room.database, learner.lesson, caller.account, [number])
    elif room.settings.accounts and not learner.has_world:
        _note_asker(room, learner.lesson, number, caller.account)
    with room.database.read() as connection:
        found = shown_suggestion(connection, learner.lesson, number)
    return ClaimAnswer(
        response=claimed.response if claimed.task.drawing is None else 0,
        until=until,
        suggestion=None if found is None else ShownSuggestion(**found._asdict()),
        practice=bool(known and known.asked.known and known.asked.known.practice),
        **content_fields(learner.lesson, learner.definition.facts.dim, claimed.task),
    )


def _note_asker(room: Classroom, lesson: str, round: int, account: str) -> None:
    """Who asked knows the request. Without accounts, programs and people have the same one."""
    with room.database.read() as connection:
        asker = has_asked(connection, lesson, round, account)
    if asker:
        mark_seen(room.database, lesson, account, [round])


@router.put("/lessons/{lesson}/rounds/{round}/claim", status_code=204, response_class=Response)
def prolong(lesson: LessonId, round: RoundNumber, room: AClassroom, caller: AsTeacher) -> Response:
    """Prolong a claim; refused if somebody else has the response now."""
    with room.database.write() as connection:
        found = find_round(connection, lesson, round)
        held = (
            holds_known(connection, lesson, round, caller.account)
            if found.status is RoundStatus.KNOWN
            else prolong_claim(connection, lesson, round, caller.account, room.lease_end())
        )
        if not held:
            raise not_found(f"claim of yours on round {round}")
    return Response(status_code=204)
