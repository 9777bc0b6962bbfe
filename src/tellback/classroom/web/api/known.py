"""Rounds whose answers are known: for practice, and to catch carelessness."""

from __future__ import annotations

from fastapi import Response

from tellback.classroom.store.known import drop_known, known_rounds
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import writing
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsReviewer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import KnownAnswer, KnownAnswers, NewKnown

router = api_router("known answers", 404, 422)


@router.get("/lessons/{lesson}/known", operation_id="list_known")
def list_known(lesson: LessonId, room: AClassroom, caller: AsReviewer) -> KnownAnswers:
    """The rounds whose answers are known. Teachers must not see them."""
    with room.database.read() as connection:
        find_lesson(connection, lesson)
        found = known_rounds(connection, lesson)
    known = [(one.round, one.asked.known) for one in found]
    return KnownAnswers(
        rounds=[
            KnownAnswer(
                round=round, answers=list(one.answers), only=one.only, practice=one.practice
            )
            for round, one in known
            if one is not None
        ]
    )


@router.post("/lessons/{lesson}/rounds/{round}/known", status_code=201, operation_id="make_known")
def make_known(
    round: RoundNumber, body: NewKnown, learner: ALearner, caller: AsReviewer
) -> KnownAnswer:
    """Make a new round with the task and the response of this one, whose answers are known."""
    known = body.checked(learner.definition)
    opened = learner.copy_as_known(round, known, caller.account)
    return KnownAnswer(round=opened.number, **body.model_dump())


@router.delete(
    "/lessons/{lesson}/rounds/{round}/known",
    status_code=204,
    response_class=Response,
    operation_id="drop_known",
)
def drop(lesson: LessonId, round: RoundNumber, room: AClassroom, caller: AsReviewer) -> Response:
    """Give a round with known answers to nobody any more. What was said of it counts no longer."""
    with writing(room.database, lesson) as log:
        drop_known(log, round, caller.account)
    return Response(status_code=204)
