"""Rounds: programs ask, the agent chooses."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Response
from sqlalchemy.exc import IntegrityError

from tellback.classroom.learning.content import Content, responses_from
from tellback.classroom.learning.learner import Learner, Opened
from tellback.classroom.store.log import LessonLog
from tellback.classroom.store.rounds import event_data, find_asked, find_round
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer, AsReviewer
from tellback.classroom.web.idempotency import Key, answered, digest_of, keep_answer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import NewRound, RoundAnswer, RoundState, choice_fields

Keep = Callable[[LessonLog, Opened], None]

router = api_router("rounds", 404, 422)


@router.post("/lessons/{lesson}/rounds", status_code=201, response_model=RoundAnswer)
def ask(
    body: NewRound, room: AClassroom, learner: ALearner, caller: AsEngineer, key: Key = None
) -> Response:
    """Have the agent respond to a task; the round waits for a description."""
    if key is None:
        answer = _answer(_asked(learner, body, caller.account))
    else:
        answer = _ask_once(room, learner, body, caller.account, key)
    # Serialised here: FastAPI would validate it once more, in another thread.
    return Response(answer.model_dump_json(), 201, media_type="application/json")


def _ask_once(
    room: Classroom, learner: Learner, body: NewRound, account: str, key: str
) -> RoundAnswer:
    digest = digest_of(f"ask {learner.lesson}", body)
    known = _answered(room, account, key, digest)
    if known is not None:
        return known

    def keep(log: LessonLog, opened: Opened) -> None:
        keep_answer(log.connection, account, key, digest, _answer(opened))

    try:
        return _answer(_asked(learner, body, account, keep))
    except IntegrityError:  # another request with the same key was faster
        answer = _answered(room, account, key, digest)
        if answer is None:
            raise
        return answer


def _answered(room: Classroom, account: str, key: str, digest: str) -> RoundAnswer | None:
    with room.database.read() as connection:
        return answered(connection, account, key, digest, RoundAnswer)


def _asked(learner: Learner, body: NewRound, account: str, keep: Keep | None = None) -> Opened:
    definition = learner.definition
    definition.demand_instruction(body.instruction)
    responses, images = responses_from(definition, body.features, body.texts, body.images)
    content = Content(body.context, body.texts, images)
    return learner.ask(body.instruction, responses, content, account, also=keep)


def _answer(opened: Opened) -> RoundAnswer:
    return RoundAnswer(
        round=opened.number, model_version=opened.version, **choice_fields(opened.choice)
    )


@router.get("/lessons/{lesson}/rounds/{round}")
def get_round(
    lesson: LessonId, round: RoundNumber, room: AClassroom, caller: AsReviewer
) -> RoundState:
    """A round with its request and description: not for teachers, who are to describe it."""
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
        **choice_fields(asked.choice),
    )
