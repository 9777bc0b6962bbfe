"""The list of lessons, and the four pages of a lesson."""

from __future__ import annotations

import re

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from tellback.classroom.store.lessons import LessonRow, all_lessons, find_lesson
from tellback.classroom.store.rounds import counts_by_status
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom
from tellback.classroom.web.pages.rendering import Visitor, render, to_login
from tellback.errors import UnknownNameError

router = APIRouter(include_in_schema=False)

_LESSON_ID = re.compile("[a-z0-9-]{1,40}")


@router.get("/")
def lessons(request: Request, room: AClassroom, visitor: Visitor) -> Response:
    """All lessons; if there is only one, a redirect to it."""
    if visitor is None:
        return to_login(request)
    with room.database.read() as connection:
        found = all_lessons(connection)
        described = {
            lesson.id: counts_by_status(connection, lesson.id).get("described", 0)
            for lesson in found
        }
    if len(found) == 1:
        return RedirectResponse(f"/teach/{found[0].id}", 303)
    return render(request, room, visitor, "lessons.html", lessons=found, described=described)


@router.get("/teach/{lesson}")
@router.get("/preview/{lesson}")
@router.get("/progress/{lesson}")
@router.get("/check/{lesson}")
def lesson_page(request: Request, lesson: str, room: AClassroom, visitor: Visitor) -> Response:
    """Describe responses, see what the agent would do, see the progress, or check descriptions."""
    if visitor is None:
        return to_login(request)
    found = _find_lesson(room, lesson)
    if found is None:
        return render(request, room, visitor, "missing.html", 404)
    page = request.scope["route"].path.split("/")[1]
    instructions = found.definition.get("instructions")
    return render(
        request, room, visitor, f"{page}.html", lesson=found, here=page, instructions=instructions
    )


def _find_lesson(room: Classroom, id: str) -> LessonRow | None:
    if not _LESSON_ID.fullmatch(id):
        return None
    try:
        with room.database.read() as connection:
            return find_lesson(connection, id)
    except UnknownNameError:
        return None
