"""Judgements: people say whether a response did what was asked."""

from __future__ import annotations

from fastapi import Response

from tellback.classroom.learning.judged import next_to_judge
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.store.judgements import judged_rounds, judgements, keep_judgement
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import find_asked, find_round
from tellback.classroom.store.seen import mark_seen
from tellback.classroom.store.tasks import find_task
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import content_fields
from tellback.classroom.web.schemas.teaching import Judgement, NewJudgement, ToJudge

router = api_router("checks", 404, 422)


@router.post(
    "/lessons/{lesson}/judgements",
    responses={204: {"description": "There is nothing to judge just now."}},
    response_model=ToJudge,
)
def next_judgement(room: AClassroom, learner: ALearner, caller: AsTeacher) -> ToJudge | Response:
    """A described round, drawn at random, to say whether it did what was asked.

    Only where verdicts rest on people.
    """
    if learner.verdicts.by is not JudgedBy.PEOPLE:
        return Response(status_code=204)
    with room.database.read() as connection:
        number = next_to_judge(
            judged_rounds(connection, learner.lesson),
            judgements(connection, learner.lesson),
            learner.verdicts.priority,
        )
        if number is None:
            return Response(status_code=204)
        asked = find_asked(
            connection, learner.lesson, find_round(connection, learner.lesson, number)
        )
        task = find_task(connection, learner.lesson, number)
    mark_seen(room.database, learner.lesson, caller.account, [number])
    return ToJudge(
        instruction=asked.instruction,
        response=asked.choice.response if task.drawing is None else 0,
        **content_fields(learner.lesson, learner.definition.facts.dim, task),
    )


@router.put("/lessons/{lesson}/rounds/{round}/judgement")
def judge(
    lesson: LessonId, round: RoundNumber, body: NewJudgement, room: AClassroom, caller: AsTeacher
) -> Judgement:
    """Say whether the response of a described round did what was asked."""
    with writing(room.database, lesson) as log:
        keep_judgement(log, round, caller.account, body.met)
    return Judgement(round=round, met=body.met)
