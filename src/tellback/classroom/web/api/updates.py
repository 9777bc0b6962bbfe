"""Updates of a lesson, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from fastapi import Request
from starlette.responses import StreamingResponse

from tellback.classroom.learning.learner import Learner
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.security.authentication import still_is
from tellback.classroom.web.security.callers import Caller

router = api_router("progress", 404, 422)

POLL_SECONDS = 0.5
LONGEST_SECONDS = 600
"""Then the page connects again."""

QUIET_SECONDS = 15
"""After so long without an event a comment is sent, so that a lost connection is noticed."""


@router.get(
    "/lessons/{lesson}/updates",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Updates."}},
    operation_id="get_updates",
)
async def updates(
    request: Request, room: AClassroom, learner: ALearner, caller: AsTeacher
) -> StreamingResponse:
    """Server-sent events: the number of the lesson's latest event, whenever there is a new one."""
    events = _updates(request, room, learner, caller)
    return StreamingResponse(events, media_type="text/event-stream")


async def _updates(
    request: Request, room: Classroom, learner: Learner, caller: Caller
) -> AsyncIterator[str]:
    sent: tuple[int, int] | None = None
    quiet = 0.0
    ends = time.monotonic() + LONGEST_SECONDS
    yield "retry: 2000\n\n"
    while time.monotonic() < ends and not await request.is_disconnected():
        if not await still_is(request, caller):
            return  # the session or the token has ended
        latest = await room.event_poller.of(learner.lesson)
        if latest != sent:
            sent, quiet = latest, 0.0
            data = json.dumps({"events": latest[0], "progress": latest[1]})
            yield f"id: {latest[0]}\nevent: update\ndata: {data}\n\n"
        elif quiet >= QUIET_SECONDS:
            quiet = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(POLL_SECONDS)
        quiet += POLL_SECONDS
