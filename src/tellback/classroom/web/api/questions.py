"""Questions about doubtful descriptions, before they are stored and afterwards."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from tellback.classroom.learning import questions
from tellback.classroom.learning.questions import Question
from tellback.classroom.store.descriptions import may_add_second, refuse_others
from tellback.classroom.store.rounds import RoundStatus, find_asked, find_round
from tellback.classroom.store.seen import is_noted
from tellback.classroom.store.tasks import find_task
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import RoundNumber
from tellback.classroom.web.schemas.rounds import content_fields
from tellback.classroom.web.schemas.teaching import AskedQuestion, LaterQuestion, QuestionAnswer
from tellback.classroom.web.security.callers import Role

router = api_router("teaching", 404, 422)

NONE: dict[int | str, dict[str, Any]] = {204: {"description": "There is nothing to ask."}}


@router.post(
    "/lessons/{lesson}/rounds/{round}/question", responses=NONE, response_model=QuestionAnswer
)
def question(
    round: RoundNumber, body: AskedQuestion, room: AClassroom, learner: ALearner, caller: AsTeacher
) -> QuestionAnswer | Response:
    """Is this description doubtful? Then ask the teacher before it is sent. Nothing is stored."""
    learner.definition.demand_description(body.description)
    with room.database.read() as connection:
        row = find_round(connection, learner.lesson, round)
        # The agent has learned the first description. A question about the second would tell it.
        second = row.described is not None and may_add_second(row, caller.account)
        if second:
            return Response(status_code=204)
        known = row.status is RoundStatus.KNOWN
        if not (known and is_noted(connection, learner.lesson, round, caller.account)):
            refuse_others(row, caller.account, caller.role.may(Role.ENGINEER))
        if known:
            return Response(status_code=204)
    found = questions.question(learner, round, caller.account, body.description)
    return Response(status_code=204) if found is None else QuestionAnswer(**_fields(found))


@router.post("/lessons/{lesson}/questions", responses=NONE, response_model=LaterQuestion)
def next_question(
    room: AClassroom, learner: ALearner, caller: AsTeacher
) -> LaterQuestion | Response:
    """The earlier description of the caller that is most doubtful now. Nothing is stored.

    The answer is a description with `sure`: the same one, or a better one.
    """
    found = questions.next_question(learner, caller.account)
    if found is None:
        return Response(status_code=204)
    with room.database.read() as connection:
        row = find_round(connection, learner.lesson, found.round)
        choice = find_asked(connection, learner.lesson, row).choice
        task = find_task(connection, learner.lesson, found.round)
    shown = content_fields(learner.lesson, learner.definition.facts.dim, task)
    return LaterQuestion(**_fields(found) | shown, response=choice.response)


def _fields(found: Question) -> dict[str, Any]:
    return {
        "round": found.round,
        "description": found.said,
        "right": found.right,
        "looks_like": found.looks_like,
        "says": found.says,
    }
