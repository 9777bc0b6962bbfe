"""Rounds: programs ask, the agent chooses."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import Query, Response

from tellback.classroom.learning.content import features_from, responses_from
from tellback.classroom.learning.drawing import drawing_of
from tellback.classroom.learning.learner import Learner, OpenedRound
from tellback.classroom.store import accounts
from tellback.classroom.store.idempotency import KeyedRequest
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.rounds import (
    ReadRound,
    event_data,
    find_asked,
    find_round,
    parse_asked,
    read_rounds,
)
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
from tellback.classroom.web.problems import Problem
from tellback.classroom.web.routing import FILE, api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import (
    Acted,
    Advice,
    NewRound,
    RoundAnswer,
    Rounds,
    RoundsQuery,
    RoundState,
    ShownRound,
    content_fields,
)
from tellback.errors import FieldError, UnknownNameError
from tellback.responses import Listed
from tellback.roles import Choice
from tellback.specs import Data

router = api_router("rounds", 404, 422)

AT_A_TIME, MOST_LOOKED = 200, 5_000
"""Rounds read at a time, and at most for one page, while words are looked for."""

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
        round=opened.number,
        model_version=opened.version,
        advice=_advice(opened.advice),
        **opened.choice.to_data(),
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
    acted = None if body.acted is None else _acted(body.acted, responses)
    if body.known is not None:
        if acted is None:
            raise FieldError("acted", "acted must say which response the known answers are of.")
        known = body.known.checked(definition)
        return learner.open_known(
            body.instruction, responses, content, acted, known, account, request
        )
    return learner.ask(body.instruction, responses, content, account, request, acted)


def _advice(stated: Data | None) -> Advice | None:
    return None if stated is None else Advice(**stated)


def _acted(acted: Acted, responses: Listed) -> Choice:
    if acted.response not in responses:
        last = len(responses) - 1
        raise FieldError(
            "acted.response", f"acted.response must be from 0 to {last}, not {acted.response}."
        )
    features = responses.features(acted.response)
    return Choice(acted.response, features, bonus=math.nan, propensity=acted.propensity)


@router.get("/lessons/{lesson}/rounds")
def list_rounds(
    lesson: LessonId, room: AClassroom, caller: AsReviewer, wanted: Annotated[RoundsQuery, Query()]
) -> Rounds:
    """Rounds by number, a page at a time, with their requests and descriptions.

    What the caller says of these rounds afterwards counts neither as a match nor as none.
    """
    teacher = None
    if wanted.teacher is not None:
        try:
            teacher = accounts.author(room.database, wanted.teacher, for_admin=False)
        except UnknownNameError as error:
            raise Problem(404, "not_found", str(error), "query.teacher") from error
    found: list[RoundState] = []
    after, looked, more = wanted.after, 0, True
    with room.database.read() as connection:
        find_lesson(connection, lesson)
        # Words are looked for in a bounded number of rounds: the next page goes on from there.
        while more and looked < MOST_LOOKED and len(found) < wanted.limit:
            most = wanted.limit - len(found) if wanted.q is None else AT_A_TIME
            page = read_rounds(
                connection, lesson, after, most, status=wanted.status, describer=teacher
            )
            more, looked = len(page) == most, looked + len(page)
            for one in page:
                after = one.row.number
                if _has(one, wanted.q):
                    found.append(_state(one))
                    if len(found) == wanted.limit:
                        more = more or one is not page[-1]
                        break
    mark_seen(room.database, lesson, caller.account, [one.round for one in found])
    return Rounds(rounds=found, next=after if more else None)


def _has(one: ReadRound, words: str | None) -> bool:
    said = (one.asked["instruction"], one.told["description"] if one.told else "")
    return words is None or any(words.casefold() in str(text).casefold() for text in said)


def _state(one: ReadRound) -> RoundState:
    asked, told = parse_asked(one.asked), one.told
    return RoundState(
        round=one.row.number,
        status=one.row.status.value,
        instruction=asked.instruction,
        model_version=asked.version,
        description=None if told is None else told["description"],
        matched=one.row.matched,
        saw_request=None if told is None else told["saw_request"],
        advice=_advice(asked.advice),
        suggested=None if told is None else told.get("suggested"),
        **asked.choice.to_data(),
    )


@router.get("/lessons/{lesson}/rounds/{round}")
def get_round(
    lesson: LessonId, round: RoundNumber, room: AClassroom, caller: AsReviewer
) -> RoundState:
    """A round with its request and description: not for teachers, who are to describe it.

    If the caller describes the round afterwards, that counts neither as a match nor as none.
    """
    with room.database.read() as connection:
        row = find_round(connection, lesson, round)
        asked = event_data(connection, lesson, row.asked)
        told = None if row.described is None else event_data(connection, lesson, row.described)
    mark_seen(room.database, lesson, caller.account, [row.number])
    return _state(ReadRound(row, asked, told))


@router.get(
    "/lessons/{lesson}/rounds/{round}/images/{index}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": FILE, "image/jpeg": FILE}}},
    operation_id="get_picture",
)
def image(
    lesson: LessonId, round: RoundNumber, index: int, room: AClassroom, caller: AsTeacher
) -> Response:
    """A picture of a round."""
    with room.database.read() as connection:
        png = find_picture(connection, lesson, round, index)
    # The pictures of a round never change.
    keep = {"Cache-Control": "private, max-age=31536000, immutable"}
    is_jpeg = png.startswith(b"\xff\xd8")  # of own material
    return Response(png, headers=keep, media_type="image/jpeg" if is_jpeg else "image/png")


@router.get("/lessons/{lesson}/rounds/{round}/shown", operation_id="get_shown")
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
