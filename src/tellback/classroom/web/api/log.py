"""The log of a lesson, out and in."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO, NamedTuple, cast

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from starlette.responses import StreamingResponse

from tellback.classroom.learning.exporting import export_lesson, export_rounds, write_table
from tellback.classroom.learning.importing import Importer
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import writing
from tellback.classroom.web.api.access import AClassroom, ALearner, AsEngineer
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.idempotency import Key, answered, keep_answer
from tellback.classroom.web.log_bodies import ImportedAnswer, Wanted
from tellback.classroom.web.log_lines import take_in_lines
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.strict_json import StrictRoute
from tellback.specs import Data

router = APIRouter(route_class=StrictRoute, tags=["log"], responses=refusals(401, 403, 404, 422))

JSONL = "application/jsonl"
PARQUET = "application/vnd.apache.parquet"
IN_MEMORY = 2**20
PIECE = 2**16


@router.get(
    "/lessons/{lesson}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {JSONL: {}, PARQUET: {}}, "description": "The lesson."}},
)
def take_out(
    room: AClassroom,
    learner: ALearner,
    caller: AsEngineer,
    wanted: Annotated[Wanted, Query()],
) -> StreamingResponse:
    """Everything that happened in a lesson, in order, as it is read from the database.

    As lines or as a table; or the rounds alone, for off-policy use.
    """
    with room.database.read() as connection:
        lesson = find_lesson(connection, learner.lesson)
    dim = learner.definition.facts.dim
    if wanted.format == "log":
        lines = export_rounds(room.database, lesson, dim, learner.agent.model_agent.propensities)
    else:
        lines = export_lesson(room.database, lesson, dim, wanted.images)
    name = f"{lesson.id}.{'parquet' if wanted.format == 'parquet' else 'jsonl'}"
    return StreamingResponse(
        _table(lines) if wanted.format == "parquet" else _lines(lines),
        media_type=PARQUET if wanted.format == "parquet" else JSONL,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _lines(lines: Iterator[Data]) -> Iterator[bytes]:
    for line in lines:
        yield json.dumps(line, allow_nan=False).encode() + b"\n"


def _table(lines: Iterator[Data]) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory(prefix="tellback-") as folder:
        path = Path(folder) / "lesson.parquet"
        write_table(lines, path, Path(folder) / "lines")
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece


class Sent(NamedTuple):
    """A body that has arrived."""

    file: BinaryIO
    digest: str


async def arrived(request: Request) -> AsyncIterator[Sent]:
    """The body of a request, in a file if it is large."""
    digest = hashlib.sha256()
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
        async for piece in request.stream():
            digest.update(piece)
            file.write(piece)
        file.seek(0)
        yield Sent(cast(BinaryIO, file), digest.hexdigest())


@router.post(
    "/lessons/{lesson}/import",
    status_code=201,
    responses=refusals(409),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A round a line, or the lines of an export.",
            "content": {JSONL: {"schema": {"type": "string"}}},
        }
    },
)
def take_in(
    room: AClassroom,
    learner: ALearner,
    caller: AsEngineer,
    sent: Annotated[Sent, Depends(arrived)],
    key: Key = None,
) -> ImportedAnswer:
    """Take in rounds that were played elsewhere, a line of JSON each: all of them, or none.

    A line has an instruction, features or texts or images, a response, and if known a context, a
    propensity, a description and saw_request. What an export gave is taken in event by event.
    """
    try:
        answer = _taken_in(room, learner, caller.account, sent, key)
    except IntegrityError:  # the same key came twice at once, for two lessons
        with room.database.read() as connection:
            found = _answered(connection, learner, caller.account, sent, key)
        if found is None:
            raise
        return found
    learner.catch_up()
    return answer


def _taken_in(
    room: Classroom, learner: Learner, account: str, sent: Sent, key: str | None
) -> ImportedAnswer:
    with writing(room.database, learner.lesson) as log:
        before = _answered(log.connection, learner, account, sent, key)
        if before is not None:
            return before
        taking = Importer(log, learner.definition, account)
        take_in_lines(sent.file, taking, learner.definition, room.settings.largest_body)
        taking.finish()
        answer = ImportedAnswer(
            rounds=taking.rounds,
            descriptions=taking.descriptions,
            first_round=taking.first_round,
            events=log.latest,
        )
        if key is not None:
            keep_answer(log.connection, account, key, _digest(learner, sent), answer)
    return answer


def _answered(
    connection: Connection, learner: Learner, account: str, sent: Sent, key: str | None
) -> ImportedAnswer | None:
    if key is None:
        return None
    return answered(connection, account, key, _digest(learner, sent), ImportedAnswer)


def _digest(learner: Learner, sent: Sent) -> str:
    return hashlib.sha256(f"import {learner.lesson} {sent.digest}".encode()).hexdigest()
