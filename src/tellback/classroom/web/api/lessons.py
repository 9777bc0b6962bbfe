"""Lessons."""

from __future__ import annotations

from fastapi import APIRouter

from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.lessons import all_lessons, find_lesson
from tellback.classroom.web.api.access import AClassroom, AsEngineer, AsTeacher
from tellback.classroom.web.bodies import LessonAnswer, LessonId, Lessons, NewLesson
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.strict_json import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["lessons"], responses=refusals(401, 403))


@router.post("/lessons", status_code=201, responses=refusals(422))
def create_lesson(body: NewLesson, room: AClassroom, caller: AsEngineer) -> LessonAnswer:
    """Make a lesson: what its responses are, and who is taught."""
    settings = body.model_dump(exclude={"name"}, exclude_none=True)
    lesson = room.create(body.name, Definition.from_data(settings))
    return LessonAnswer(**lesson._asdict())


@router.get("/lessons")
def list_lessons(room: AClassroom, caller: AsTeacher) -> Lessons:
    """All lessons, the newest first."""
    with room.database.read() as connection:
        found = all_lessons(connection)
    return Lessons(lessons=[LessonAnswer(**lesson._asdict()) for lesson in found])


@router.get("/lessons/{lesson}", responses=refusals(404, 422))
def get_lesson(lesson: LessonId, room: AClassroom, caller: AsTeacher) -> LessonAnswer:
    """A lesson."""
    with room.database.read() as connection:
        return LessonAnswer(**find_lesson(connection, lesson)._asdict())
