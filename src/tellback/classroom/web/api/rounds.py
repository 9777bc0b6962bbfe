"""Rounds: programs ask, the agent chooses."""

from __future__ import annotations

from fastapi import Response

from tellback.classroom.learning.content import features_from, responses_from
from tellback.classroom.learning.drawing import drawing_of
from tellback.classroom.learning.learner import Learner, OpenedRound
from tellback.classroom.store.idempotency import KeyedRequest
from tellback.classroom.store.rounds import event_data, find_asked, find_round
from tellback.classroom.store.seen import mark_seen
from tellback.classroom.store.tasks import Content, find_picture, find_task
from tellback.classroom.web.dependencies import (
    AClassroom,
    ALearner,
    AsEngineer,
    AsReviewer,
    AsTeacher,
)
from tellback.classroom.web.idempotency import Key, digest_of
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import (
    NewRound,
    RoundAnswer,
    RoundState,
    ShownRound,
    content_fields,
)

router = api_router("rounds", 404, 422)

MOST_ROWS, MOST_NUMBERS = 200, 8
"""The most rows and columns of features to show."""


@router.post("/lessons/{lesson}/rounds", status_code=201, response_model=RoundAnswer)
def ask(body: NewRound, learner: ALearner, caller: AsEngineer, key: Key = None) -> Response:
    """Have the agent respond to a task; the round waits for a description."""
    request = None
    if key is not None:
        request = KeyedRequest(caller.account, key, digest_of(f"ask {learner.lesson}", body))
    opened = learner.answered(request) or _ask(learner, body, caller.account, request)
    answer = RoundAnswer(
        round=opened.number, model_version=opened.version, **opened.choice.to_data()
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
    """A round with its request and description: not for teachers, who are to describe it.

    If the caller describes the round afterwards, that counts neither as a match nor as none.
    """
    with room.database.read() as connection:
        found = find_round(connection, lesson, round)
        asked = find_asked(connection, lesson, found)
        told = None if found.described is None else event_data(connection, lesson, found.described)
    mark_seen(room.database, lesson, caller.account, found.number)
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


@router.get(
    "/lessons/{lesson}/rounds/{round}/images/{index}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
def image(
    lesson: LessonId, round: RoundNumber, index: int, room: AClassroom, caller: AsTeacher
) -> Response:
    """A picture of a round."""
    with room.database.read() as connection:
        png = find_picture(connection, lesson, round, index)
    # The pictures of a round never change.
    keep = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(png, headers=keep, media_type="image/png")


@router.get("/lessons/{lesson}/rounds/{round}/shown")
def shown(round: RoundNumber, room: AClassroom, learner: ALearner, caller: AsTeacher) -> ShownRound:
    """The candidates of a round, without the request and the agent's choice."""
    with room.database.read() as connection:
        task = find_task(connection, learner.lesson, round)
        drawn = find_asked(
            connection, learner.lesson, find_round(connection, learner.lesson, round)
        ).drawn
    if drawn is not None:  # the plan alone
        task = task._replace(drawing=drawing_of(learner.agent.world_task(drawn.task)))
    dim = learner.definition.facts.dim
    features = features_from(task.features, dim)
    bare = task.texts is None and task.images is None and drawn is None
    return ShownRound(
        **content_fields(learner.lesson, dim, task),
        features=features[:MOST_ROWS, :MOST_NUMBERS].tolist() if bare else None,
    )
