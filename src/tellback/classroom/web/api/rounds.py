"""Rounds: programs ask, the agent chooses."""

from __future__ import annotations

from fastapi import Response

from tellback.classroom.learning.content import responses_from
from tellback.classroom.learning.learner import Learner, OpenedRound
from tellback.classroom.store.idempotency import KeyedRequest
from tellback.classroom.store.rounds import event_data, find_asked, find_round
from tellback.classroom.store.tasks import Content
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer, AsReviewer
from tellback.classroom.web.idempotency import Key, digest_of
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import NewRound, RoundAnswer, RoundState, choice_fields

router = api_router("rounds", 404, 422)


@router.post("/lessons/{lesson}/rounds", status_code=201, response_model=RoundAnswer)
def ask(body: NewRound, learner: ALearner, caller: AsEngineer, key: Key = None) -> Response:
    """Have the agent respond to a task; the round waits for a description."""
    request = None
    if key is not None:
        request = KeyedRequest(caller.account, key, digest_of(f"ask {learner.lesson}", body))
    opened = learner.answered(request) or _ask(learner, body, caller.account, request)
    answer = RoundAnswer(
        round=opened.number, model_version=opened.version, **choice_fields(opened.choice)
    )
    # Serialised here: FastAPI would validate it once more, in another thread.
    return Response(answer.model_dump_json(), 201, media_type="application/json")


def _ask(
    learner: Learner, body: NewRound, account: str, request: KeyedRequest | None
) -> OpenedRound:
    definition = learner.definition
    definition.demand_instruction(body.instruction)
    responses, images = responses_from(definition, body.features, body.texts, body.images)
    content = Content(body.context, body.texts, images)
    return learner.ask(body.instruction, responses, content, account, request)


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
