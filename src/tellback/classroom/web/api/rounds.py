"""Rounds that programs bring."""

from __future__ import annotations

import math
from collections.abc import Callable

from fastapi import APIRouter, Response
from sqlalchemy.exc import IntegrityError

from tellback.classroom.learning.content import Content, responses_from
from tellback.classroom.learning.learner import Learner, Opened
from tellback.classroom.store.log import LessonLog
from tellback.classroom.store.rounds import event_data, find_asked, find_round
from tellback.classroom.web.api.access import AClassroom, ALearner, AsEngineer, AsReviewer
from tellback.classroom.web.bodies import (
    Candidates,
    LessonId,
    NewRound,
    RoundAnswer,
    RoundNumber,
    RoundState,
)
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.idempotency import Key, answered, digest_of, keep_answer
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.problems import unfit
from tellback.classroom.web.strict_json import StrictRoute
from tellback.responses import Listed
from tellback.roles import Instruction

Keep = Callable[[LessonLog, Opened], None]

router = APIRouter(route_class=StrictRoute, tags=["rounds"], responses=refusals(401, 403, 404, 422))


@router.post(
    "/lessons/{lesson}/rounds",
    status_code=201,
    response_model=RoundAnswer,
    responses=refusals(409),
)
def ask(
    body: NewRound, room: AClassroom, learner: ALearner, caller: AsEngineer, key: Key = None
) -> Response:
    """Have the agent respond to a task, and keep the round for somebody to describe."""
    if key is None:
        answer = answer_of(_asked(learner, body, caller.account))
    else:
        answer = _ask_once(room, learner, body, caller.account, key)
    # Written here: FastAPI would check it once more, in another thread.
    return Response(answer.model_dump_json(), 201, media_type="application/json")


def _ask_once(
    room: Classroom, learner: Learner, body: NewRound, account: str, key: str
) -> RoundAnswer:
    digest = digest_of(f"ask {learner.lesson}", body)
    known = _answered(room, account, key, digest)
    if known is not None:
        return known

    def keep(log: LessonLog, opened: Opened) -> None:
        keep_answer(log.connection, account, key, digest, answer_of(opened))

    try:
        return answer_of(_asked(learner, body, account, keep))
    except IntegrityError:  # the same key came twice at once, and the other was quicker
        answer = _answered(room, account, key, digest)
        if answer is None:
            raise
        return answer


def _answered(room: Classroom, account: str, key: str, digest: str) -> RoundAnswer | None:
    with room.database.read() as connection:
        return answered(connection, account, key, digest, RoundAnswer)


def _asked(learner: Learner, body: NewRound, account: str, keep: Keep | None = None) -> Opened:
    demand_instruction(learner, body.instruction)
    responses, images = candidates_of(learner, body)
    content = Content(body.context, body.texts, images)
    return learner.ask(body.instruction, responses, content, account, also=keep)


def candidates_of(learner: Learner, body: Candidates) -> tuple[Listed, list[str] | None]:
    """The responses that a request names."""
    return responses_from(learner.definition, body.features, body.texts, body.images)


def demand_instruction(
    learner: Learner, instruction: Instruction, field: str = "instruction"
) -> None:
    """Refuse what is no instruction in this lesson."""
    facts = learner.definition.facts
    if not facts.fits(instruction):
        raise unfit(field, f"{field} must be {facts.allowed} in this lesson.")


def number(value: float | None) -> float | None:
    """A number as JSON can hold it."""
    return None if value is None or not math.isfinite(value) else float(value)


def answer_of(opened: Opened) -> RoundAnswer:
    """What the agent does in a round that was just asked."""
    return RoundAnswer(round=opened.number, model_version=opened.version, **opened.choice.to_data())


@router.get("/lessons/{lesson}/rounds/{round}")
def get_round(
    lesson: LessonId, round: RoundNumber, room: AClassroom, caller: AsReviewer
) -> RoundState:
    """A round, with what was asked and what was told: not for those who are to describe it."""
    with room.database.read() as connection:
        found = find_round(connection, lesson, round)
        asked = find_asked(connection, lesson, found)
        told = None if found.described is None else event_data(connection, lesson, found.described)
    return RoundState(
        round=found.number,
        status=found.status.value,
        instruction=asked.instruction,
        model_version=asked.version,
        description=None if told is None else told["description"],
        matched=found.matched,
        saw_request=None if told is None else told["saw_request"],
        **asked.choice.to_data(),
    )
