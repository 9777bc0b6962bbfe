"""Blind checks: another person picks which response a description fits."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tellback.classroom.learning.content import Content
from tellback.classroom.store.checks import keep_check, round_to_check
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import find_task
from tellback.classroom.web.api.access import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.api.teaching import image_places
from tellback.classroom.web.bodies import CheckAnswer, Checked, LessonId, Pick, RoundNumber
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.strict_json import StrictRoute

router = APIRouter(
    route_class=StrictRoute, tags=["checks"], responses=refusals(401, 403, 404, 409, 422)
)


@router.post(
    "/lessons/{lesson}/checks",
    responses={204: {"description": "There is nothing to check just now."}},
    response_model=CheckAnswer,
)
def next_check(room: AClassroom, learner: ALearner, caller: AsTeacher) -> CheckAnswer | Response:
    """A description by somebody else, and all responses there were, to pick the one it is of."""
    with room.database.read() as connection:
        found = round_to_check(connection, learner.lesson, caller.account)
        if found is None:
            return Response(status_code=204)
        number, description = found
        features, packed = find_task(connection, learner.lesson, number)
    content = Content.unpacked(packed)
    return CheckAnswer(
        round=number,
        description=description,
        candidates=len(features) // (8 * learner.definition.facts.dim),
        context=content.context,
        texts=content.texts,
        images=image_places(learner.lesson, number, content),
    )


@router.put("/lessons/{lesson}/rounds/{round}/check")
def pick(
    lesson: LessonId, round: RoundNumber, body: Pick, room: AClassroom, caller: AsTeacher
) -> Checked:
    """Say which response a description fits."""
    with writing(room.database, lesson) as log:
        right, response = keep_check(log, round, caller.account, body.response)
    return Checked(round=round, right=right, response=response)
