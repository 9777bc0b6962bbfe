"""Lessons of one's own material."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import AfterValidator

from tellback.classroom.learning.collecting import collect
from tellback.classroom.store.idempotency import KeyedRequest, add_answer, find_answer
from tellback.classroom.store.lessons import LessonRow, find_lesson
from tellback.classroom.turns import Turns
from tellback.classroom.web.dependencies import AClassroom, AsEngineer
from tellback.classroom.web.idempotency import Key
from tellback.classroom.web.own_lines import own_responses
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import not_blank
from tellback.classroom.web.schemas.lessons import LessonAnswer
from tellback.classroom.web.uploads import Upload, uploaded

router = api_router("lessons")

COLLECTING = Turns("Other material is being looked at: try again when that is done.")

Name = Annotated[str, Query(min_length=1, max_length=200), AfterValidator(not_blank)]


@router.post(
    "/lessons/import",
    status_code=201,
    response_model=LessonAnswer,
    responses=problems(413, 422, 503),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A response a line, as in a recording; pictures as `images`, a list of "
            "PNG, JPEG or WebP files in base 64, several for a strip. Or a CSV table with a column "
            "`text`.",
            "content": {
                "application/jsonl": {"schema": {"type": "string"}},
                "text/csv": {"schema": {"type": "string"}},
            },
        }
    },
)
def create_own_lesson(
    name: Name,
    room: AClassroom,
    caller: AsEngineer,
    upload: Annotated[Upload, Depends(uploaded)],
    format: Annotated[
        Literal["jsonl", "csv"], Query(description="Lines of JSON, or a table.")
    ] = "jsonl",
    candidates: Annotated[
        int, Query(ge=2, le=25, description="How many responses are shown at a time.")
    ] = 5,
    held_out: Annotated[
        float,
        Query(
            ge=0,
            le=0.9,
            allow_inf_nan=False,
            description="The share of descriptions for the exam: not taught.",
        ),
    ] = 0.25,
    key: Key = None,
) -> LessonRow:
    """Create a lesson of your own material: pictures, strips of frames, texts, or steps.

    Requests are made from descriptions. A random share of the rounds is held out: their
    descriptions are the requests of the exam, and teach nothing.
    """
    request = None
    if key is not None:
        words = f"lesson {name} {format} {candidates} {held_out} {upload.digest}"
        request = KeyedRequest(caller.account, key, hashlib.sha256(words.encode()).hexdigest())
        with room.database.read() as connection:
            before = find_answer(connection, request)
            if before is not None:
                return find_lesson(connection, json.loads(before)["lesson"])
    with COLLECTING:
        responses = own_responses(upload.file, format == "csv", room.settings.largest_body)
        collected = collect(responses, candidates=candidates, held_out=held_out)
        lesson = room.own_lesson(name, collected)
    if request is not None:
        with room.database.write() as connection:
            add_answer(connection, request, json.dumps({"lesson": lesson.id}))
    return lesson
