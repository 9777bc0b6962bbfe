"""Export of a lesson."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from fastapi import Query
from starlette.responses import StreamingResponse

from tellback.classroom.learning.examples import lesson_examples
from tellback.classroom.learning.exporting import export_lesson, export_rounds, write_table
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.seen import mark_seen
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer
from tellback.classroom.web.routing import FILE, api_router
from tellback.classroom.web.schemas.log import ExportQuery
from tellback.recordings.exporting import chat_lines, recording_lines
from tellback.specs import Data

router = api_router("log", 404, 422)

JSONL = "application/jsonl"
PARQUET = "application/vnd.apache.parquet"
PIECE = 2**16


@router.get(
    "/lessons/{lesson}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {JSONL: FILE, PARQUET: FILE}, "description": "The lesson."}},
)
def export(
    room: AClassroom,
    learner: ALearner,
    caller: AsEngineer,
    wanted: Annotated[ExportQuery, Query()],
) -> StreamingResponse:
    """All events of a lesson, in order, streamed from the database.

    As lines of JSON or as a table; or the rounds alone, for off-policy evaluation; or the active
    descriptions as training data, in messages (chat) or as a recording.
    """
    with room.database.read() as connection:
        lesson = find_lesson(connection, learner.lesson)
    mark_seen(room.database, lesson.id, caller.account)
    dim = learner.definition.facts.dim
    if wanted.format == "log":
        lines = export_rounds(room.database, lesson, dim, learner.agent.model_agent.propensities)
    elif wanted.format == "chat":
        examples = lesson_examples(room.database, lesson, dim)
        lines = chat_lines(examples, wanted.context, wanted.candidates)
    elif wanted.format == "recording":
        lines = recording_lines(lesson_examples(room.database, lesson, dim), lesson.name)
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
