"""The pages on which people teach."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from starlette.responses import RedirectResponse
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import Scope

from tellback.classroom.store.lessons import LessonRow, all_lessons, find_lesson
from tellback.classroom.store.rounds import counts_by_status
from tellback.classroom.store.secrets import csrf_of
from tellback.classroom.web.api.access import AClassroom
from tellback.classroom.web.bodies import LONGEST_SENTENCE
from tellback.classroom.web.callers import Caller, Role
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.problems import Problem
from tellback.classroom.web.security import needs, session_of
from tellback.errors import UnknownNameError

router = APIRouter(include_in_schema=False)

_HERE = Path(__file__).parent
_STATIC = _HERE / "static"
_LESSON_ID = re.compile("[a-z0-9-]{1,40}")
_VERSION = re.compile("[0-9a-f]{12}")

# Browsers run modules of no other type, and the system's own table is not always right.
mimetypes.add_type("text/javascript", ".js")


@lru_cache(1)
def version() -> str:
    """A name for the files that pages load, which changes whenever one of them does."""
    whole = hashlib.sha256()
    for file in sorted(_STATIC.iterdir()):
        whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()[:12]


class Static(StaticFiles):
    """The files that pages load, under their version: what has that name never changes.

    Under any other name, such as that of a version before, files are served too, but the browser
    asks each time whether they have changed.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file."""
        first, _, rest = path.partition("/")
        if not _VERSION.fullmatch(first):
            return await super().get_response(path, scope)
        response = await super().get_response(rest, scope)
        if first == version():
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def mount_static(app: FastAPI) -> None:
    """Serve the files that pages load."""
    app.mount("/static", Static(directory=_STATIC), name="static")


def asset(name: str) -> str:
    """Where a page finds a file."""
    return f"/static/{version()}/{name}"


templates = Jinja2Templates(directory=_HERE / "templates")
templates.env.globals["asset"] = asset
templates.env.globals["longest_sentence"] = LONGEST_SENTENCE


async def _visitor(request: Request) -> Caller | None:
    """Who looks at a page; None if they must sign in first."""
    try:
        return await needs(Role.TEACHER)(request)
    except Problem as problem:
        if problem.status != 401:
            raise
        return None


Visitor = Annotated[Caller | None, Depends(_visitor)]


def _page(
    request: Request, room: Classroom, visitor: Caller, name: str, status: int = 200, **more: Any
) -> Response:
    accounts = room.settings.accounts
    session = session_of(request) if accounts else None
    known = {
        "visitor": visitor,
        "accounts": accounts,
        "csrf": csrf_of(session) if session else "",
        "lease": room.settings.lease_seconds,
    }
    return templates.TemplateResponse(request, name, known | more, status)


def _to_login(request: Request) -> Response:
    return RedirectResponse(f"/login?next={quote(request.url.path, safe='/')}", 303)


@router.get("/")
def lessons(request: Request, room: AClassroom, visitor: Visitor) -> Response:
    """All lessons; where there is one only, it."""
    if visitor is None:
        return _to_login(request)
    with room.database.read() as connection:
        found = all_lessons(connection)
        described = {
            lesson.id: counts_by_status(connection, lesson.id).get("described", 0)
            for lesson in found
        }
    if len(found) == 1:
        return RedirectResponse(f"/teach/{found[0].id}", 303)
    return _page(request, room, visitor, "lessons.html", lessons=found, described=described)


def _of_lesson(
    request: Request, room: Classroom, visitor: Caller | None, id: str, page: str
) -> Response:
    if visitor is None:
        return _to_login(request)
    lesson = _lesson(room, id)
    if lesson is None:
        return _page(request, room, visitor, "missing.html", 404)
    instructions = lesson.definition.get("instructions")
    return _page(
        request, room, visitor, f"{page}.html", lesson=lesson, here=page, instructions=instructions
    )


def _lesson(room: Classroom, id: str) -> LessonRow | None:
    if not _LESSON_ID.fullmatch(id):
        return None
    try:
        with room.database.read() as connection:
            return find_lesson(connection, id)
    except UnknownNameError:
        return None


@router.get("/teach/{lesson}")
def teach(request: Request, lesson: str, room: AClassroom, visitor: Visitor) -> Response:
    """Describe what the agent did."""
    return _of_lesson(request, room, visitor, lesson, "teach")


@router.get("/ask/{lesson}")
def ask(request: Request, lesson: str, room: AClassroom, visitor: Visitor) -> Response:
    """Ask the agent for something."""
    return _of_lesson(request, room, visitor, lesson, "ask")


@router.get("/progress/{lesson}")
def progress(request: Request, lesson: str, room: AClassroom, visitor: Visitor) -> Response:
    """See how the lesson goes."""
    return _of_lesson(request, room, visitor, lesson, "progress")


@router.get("/check/{lesson}")
def check(request: Request, lesson: str, room: AClassroom, visitor: Visitor) -> Response:
    """Pick which response somebody else's description fits."""
    return _of_lesson(request, room, visitor, lesson, "check")
