"""Import of rounds, or of an export."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import closing
from typing import Annotated

from fastapi import Depends

from tellback.classroom.learning.importing import Importer
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Connection
from tellback.classroom.store.idempotency import (
    AnsweredError,
    KeyedRequest,
    add_answer,
    change_answer,
    find_answer,
)
from tellback.classroom.store.log import writing
from tellback.classroom.turns import PAUSE, Turns
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer
from tellback.classroom.web.idempotency import Key
from tellback.classroom.web.import_lines import import_lines
from tellback.classroom.web.problems import invalid
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.log import ImportedAnswer
from tellback.classroom.web.uploads import Upload, uploaded

router = api_router("log", 404, 422)

READING = Turns("Other imports are being read: try again when they are done.")

MOST_AT_ONCE = 5_000
"""Rounds that are written in one transaction: it keeps others from writing for about 0.3 s."""

LONGEST_PAUSE = 0.2
"""Seconds between two slices."""


@router.post(
    "/lessons/{lesson}/import",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A round a line, or the lines of an export.",
            "content": {"application/jsonl": {"schema": {"type": "string"}}},
        }
    },
    operation_id="import_rounds",
)
def import_log(
    room: AClassroom,
    learner: ALearner,
    caller: AsEngineer,
    upload: Annotated[Upload, Depends(uploaded)],
    key: Key = None,
) -> ImportedAnswer:
    """Import rounds that were played elsewhere, a line of JSON each, if all lines are right.

    A line has an instruction, features or texts or images, a response, and if known a context, a
    propensity, a description and saw_request. An export is imported event by event. With an
    idempotency key, rounds are written in slices: after a failure, the same request goes on.
    """
    request = None
    if key is not None:
        digest = hashlib.sha256(f"import {learner.lesson} {upload.digest}".encode()).hexdigest()
        request = KeyedRequest(caller.account, key, digest)
    try:
        answer = _imported(room, learner, caller.account, upload, request)
    except AnsweredError:  # another request with the same key, to another lesson, was faster
        with room.database.read() as connection:
            found = _answered(connection, request)
        if found is None:
            raise
        return found
    learner.catch_up()
    return answer


def _imported(
    room: Classroom, learner: Learner, account: str, upload: Upload, request: KeyedRequest | None
) -> ImportedAnswer:
    with room.database.read() as connection:
        before = _answered(connection, request)
    if before is not None:
        return before
    with closing(Importer(learner.definition, account)) as importer:
        with READING:  # all that takes long, before the lesson is locked
            import_lines(upload.file, importer, learner.definition, room.settings.largest_body)
        if request is not None and importer.separable:
            return _written_in_slices(room, learner.lesson, importer, request)
        if importer.separable and importer.rounds > MOST_AT_ONCE:
            raise invalid(
                "Idempotency-Key",
                f"An import of more than {MOST_AT_ONCE:,} rounds must have an Idempotency-Key: it "
                f"is written in slices, and goes on where it stopped if it is sent again.",
            )
        with writing(room.database, learner.lesson) as log:
            before = _answered(log.connection, request)
            if before is not None:
                return before
            first = log.rounds + 1
            importer.write(log)
            answer = _answer(importer, first, log.latest)
            if request is not None:
                add_answer(log.connection, request, answer.model_dump_json())
    return answer


def _written_in_slices(
    room: Classroom, lesson: str, importer: Importer, request: KeyedRequest
) -> ImportedAnswer:
    """Write page by page, so that others need not wait for all of them.

    The stored answer says how far it came. So a request that is sent again goes on from there.
    """
    written, first, answer = 0, 0, None
    for page in importer.pages():
        begun, end = time.monotonic(), page[-1][0]
        with writing(room.database, lesson) as log:
            stored = find_answer(log.connection, request)
            if stored is not None:
                progress = json.loads(stored)
                if "written" not in progress:
                    return ImportedAnswer(**progress)
                written, first = progress["written"], progress["first_round"]
            if written >= end:
                continue
            first = first or log.rounds + 1
            importer.write(log, page)
            answer = _answer(importer, first, log.latest)
            done = {"written": end, "first_round": first}
            last = end == importer.events
            text = answer.model_dump_json() if last else json.dumps(done)
            change_answer(log.connection, request, text)
        # Others have their turn.
        time.sleep(min(PAUSE * (time.monotonic() - begun), LONGEST_PAUSE))
    assert answer is not None
    return answer


def _answer(importer: Importer, first: int, latest: int) -> ImportedAnswer:
    return ImportedAnswer(
        rounds=importer.rounds,
        descriptions=importer.descriptions,
        first_round=first if importer.rounds else None,
        events=latest,
    )


def _answered(connection: Connection, request: KeyedRequest | None) -> ImportedAnswer | None:
    """The answer to a request, if all of it was done."""
    answer = None if request is None else find_answer(connection, request)
    if answer is None or "written" in json.loads(answer):
        return None
    return ImportedAnswer.model_validate_json(answer)
