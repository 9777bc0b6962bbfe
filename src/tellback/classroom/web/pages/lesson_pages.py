"""The list of lessons, and the pages of a lesson."""

from __future__ import annotations

import re

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from tellback.classroom.store.lessons import LessonRow, all_lessons, find_lesson
from tellback.classroom.store.rounds import counts_by_status
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom
from tellback.classroom.web.pages.rendering import Visitor, render, to_login
from tellback.classroom.web.security.callers import Role
from tellback.errors import UnknownNameError

router = APIRouter(include_in_schema=False)

_LESSON_ID = re.compile("[a-z0-9-]{1,40}")


@router.get("/")
def lessons(request: Request, room: AClassroom, visitor: Visitor) -> Response:
    """All lessons; if there is only one, a redirect to it, unless all are asked for."""
    if visitor is None:
        return to_login(request)
    with room.database.read() as connection:
        found = all_lessons(connection)
        described = {
            lesson.id: counts_by_status(connection, lesson.id).get("described", 0)
            for lesson in found
        }
    if len(found) == 1 and "all" not in request.query_params:
        return RedirectResponse(f"/teach/{found[0].id}", 303)
    return render(
        request,
        room,
        visitor,
        "lessons.html",
        lessons=[one for one in found if not one.archived],
        archived=[one for one in found if one.archived],
        described=described,
        may_make=visitor.role.may(Role.ENGINEER),
        may_delete=visitor.role.may(Role.ADMIN),
    )


@router.get("/teach/{lesson}")
@router.get("/preview/{lesson}")
@router.get("/progress/{lesson}")
@router.get("/check/{lesson}")
@router.get("/inbox/{lesson}")
def lesson_page(request: Request, lesson: str, room: AClassroom, visitor: Visitor) -> Response:
    """Describe, see what the agent would do, see the progress, check descriptions, or review."""
    if visitor is None:
        return to_login(request)
    found = _find_lesson(room, lesson)
    if found is None:
        return render(request, room, visitor, "missing.html", 404)
    page = request.scope["route"].path.split("/")[1]
    set_there = found.definition.get
    return render(
        request,
        room,
        visitor,
        f"{page}.html",
        lesson=found,
        here=page,
        instructions=set_there("instructions"),
        answers=set_there("answers"),
        may_make=visitor.role.may(Role.ENGINEER),
        may_review=visitor.role.may(Role.REVIEWER),
    )


def _find_lesson(room: Classroom, id: str) -> LessonRow | None:
    if not _LESSON_ID.fullmatch(id):
        return None
    try:
        with room.database.read() as connection:
            return find_lesson(connection, id)
    except UnknownNameError:
        return None
