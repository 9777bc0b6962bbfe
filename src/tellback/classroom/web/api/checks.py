"""Blind checks: another person picks which response a description fits."""

from __future__ import annotations

from fastapi import Response

from tellback.classroom.store.checks import keep_check, round_to_check
from tellback.classroom.store.log import writing
from tellback.classroom.store.tasks import find_task
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import content_fields
from tellback.classroom.web.schemas.teaching import CheckAnswer, Checked, Pick

router = api_router("checks", 404, 422)


@router.post(
    "/lessons/{lesson}/checks",
    responses={204: {"description": "There is nothing to check just now."}},
    response_model=CheckAnswer,
)
def next_check(room: AClassroom, learner: ALearner, caller: AsTeacher) -> CheckAnswer | Response:
    """A description by somebody else, and all candidates, to pick the one that it describes.

    There are no checks where responses are too many to list: only the chosen one is shown.
    """
    if learner.draws:
        return Response(status_code=204)
    dim = learner.definition.facts.dim
    with room.database.read() as connection:
        found = round_to_check(connection, learner.lesson, caller.account, dim)
        if found is None:
            return Response(status_code=204)
        number, description = found
        task = find_task(connection, learner.lesson, number)
    return CheckAnswer(
        description=description,
        **content_fields(learner.lesson, dim, task),
    )


@router.put("/lessons/{lesson}/rounds/{round}/check", operation_id="check")
def pick(
    lesson: LessonId, round: RoundNumber, body: Pick, room: AClassroom, caller: AsTeacher
) -> Checked:
    """Say which response a description fits."""
    with writing(room.database, lesson) as log:
        right, response = keep_check(log, round, caller.account, body.response)
    return Checked(round=round, right=right, response=response)
