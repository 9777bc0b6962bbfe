"""How a lesson goes, and word of everything new in it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from sqlalchemy import select
from starlette.responses import StreamingResponse

from tellback.certificate import Calibration
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.progress import certificate, match_rate, running
from tellback.classroom.store.reports import (
    agreement,
    checks,
    curve,
    round_columns,
    teacher_counts,
)
from tellback.classroom.store.rounds import counts_by_status
from tellback.classroom.store.tables import lessons
from tellback.classroom.web.api.access import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.bodies import (
    CurveAnswer,
    PointAnswer,
    ProgressAnswer,
    ShareAnswer,
    TeacherAnswer,
    UnsureAnswer,
)
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.strict_json import StrictRoute
from tellback.proof import Standing, standing_of
from tellback.theory.shares import Share

router = APIRouter(
    route_class=StrictRoute, tags=["progress"], responses=refusals(401, 403, 404, 422)
)

MOST_UNSURE = 5
"""Requests of which the agent is least sure."""

LOOK_SECONDS = 0.5
"""How often the log is looked at for those who wait for news."""

LONGEST_SECONDS = 600
"""Then the page calls again, and must still be signed in."""

QUIET_SECONDS = 15
"""After so long without news a line is sent, so that a lost connection is noticed."""


@router.get("/lessons/{lesson}/progress")
def get_progress(room: AClassroom, learner: ALearner, caller: AsTeacher) -> ProgressAnswer:
    """How the lesson goes: what was described, how well requests are met, and what is unsure."""
    # Worked out once for all who look, whenever something has happened.
    reached = room.latest.now(learner.lesson)
    known = room.reports.get(learner.lesson)
    if known is None or known[0] != reached:
        known = room.reports[learner.lesson] = reached, _progress(room, learner)
    return known[1]


def _progress(room: Classroom, learner: Learner) -> ProgressAnswer:
    with room.database.read() as connection:
        row = connection.execute(
            select(lessons.c.events, lessons.c.rounds).where(lessons.c.id == learner.lesson)
        ).one()
        statuses = counts_by_status(connection, learner.lesson)
        points = curve(connection, learner.lesson)
        columns = round_columns(connection, learner.lesson)
        counts = teacher_counts(connection, learner.lesson)
        agreed = agreement(connection, learner.lesson)
        checked = checks(connection, learner.lesson)
    proof = certificate(learner.definition, columns)
    match = learner.definition.match
    unsure = learner.unsure(MOST_UNSURE)
    return ProgressAnswer(
        lesson=learner.lesson,
        name=learner.name,
        events=row.events,
        rounds=row.rounds,
        described=statuses.get("described", 0),
        statuses=statuses,
        curve=[PointAnswer(**point._asdict()) for point in points],
        matches=share_answer(match_rate(columns)),
        match_says=match.says if match else "",
        certified_regret=proof.regret,
        light=proof.light.light,
        light_says=_with_caveat(proof.light, standing_of(learner.agent.model_agent)),
        unsure=[UnsureAnswer(request=asked, says=says) for asked, says in unsure[:MOST_UNSURE]],
        teachers=[
            TeacherAnswer(**{k: v for k, v in one._asdict().items() if k != "account"})
            for one in counts
        ],
        agreement=share_answer(running(agreed)),
        checks=share_answer(running(checked)),
    )


IN_A_LESSON = "nobody knows whether descriptions were skipped, undone or deleted for what they said"
"""What is not known of a lesson, whatever stands behind its agent's bounds."""


def _with_caveat(light: Calibration, standing: Standing) -> str:
    """Why the light is what it is, and why the bounds are no proof: with people they are none."""
    if light.light == "dark":
        return light.says
    return f"{light.says}; they are no proof: {standing.caveat or IN_A_LESSON}"


@router.get("/lessons/{lesson}/curve")
def get_curve(room: AClassroom, learner: ALearner, caller: AsTeacher) -> CurveAnswer:
    """The success curve alone: it names no request, and so is for those who describe, too."""
    with room.database.read() as connection:
        described = counts_by_status(connection, learner.lesson).get("described", 0)
        points = curve(connection, learner.lesson)
    match = learner.definition.match
    return CurveAnswer(
        described=described,
        curve=[PointAnswer(**point._asdict()) for point in points],
        match_says=match.says if match else "",
    )


def share_answer(share: Share | None) -> ShareAnswer | None:
    """A share as it is told."""
    if share is None:
        return None
    return ShareAnswer(share=share.share, low=share.low, high=share.high, n=share.n)


@router.get(
    "/lessons/{lesson}/news",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "News, as they come."}},
)
async def news(
    request: Request, room: AClassroom, learner: ALearner, caller: AsTeacher
) -> StreamingResponse:
    """Server-sent events: one with the number of the latest event whenever there are new ones."""
    return StreamingResponse(_news(request, room, learner), media_type="text/event-stream")


async def _news(request: Request, room: Classroom, learner: Learner) -> AsyncIterator[str]:
    told: tuple[int, int] | None = None
    quiet = 0.0
    ends = time.monotonic() + LONGEST_SECONDS
    yield "retry: 2000\n\n"
    while time.monotonic() < ends and not await request.is_disconnected():
        latest = await room.latest.of(learner.lesson)
        if latest != told:
            told, quiet = latest, 0.0
            data = json.dumps({"events": latest[0], "progress": latest[1]})
            yield f"id: {latest[0]}\nevent: news\ndata: {data}\n\n"
        elif quiet >= QUIET_SECONDS:
            quiet = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(LOOK_SECONDS)
        quiet += LOOK_SECONDS
