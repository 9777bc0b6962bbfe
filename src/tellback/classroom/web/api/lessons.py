"""Lessons."""

from __future__ import annotations

from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.lessons import all_lessons, find_lesson
from tellback.classroom.web.dependencies import AClassroom, AsEngineer, AsTeacher
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId
from tellback.classroom.web.schemas.lessons import LessonAnswer, Lessons, NewLesson

router = api_router("lessons")


@router.post("/lessons", status_code=201, responses=problems(422))
def create_lesson(body: NewLesson, room: AClassroom, caller: AsEngineer) -> LessonAnswer:
    """Create a lesson: the form of its responses, and its agent."""
    settings = body.model_dump(exclude={"name"}, exclude_none=True)
    lesson = room.create(body.name, Definition.from_data(settings))
    return LessonAnswer(**lesson._asdict())


@router.get("/lessons")
def list_lessons(room: AClassroom, caller: AsTeacher) -> Lessons:
    """All lessons, the newest first."""
    with room.database.read() as connection:
        found = all_lessons(connection)
    return Lessons(lessons=[LessonAnswer(**lesson._asdict()) for lesson in found])


@router.get("/lessons/{lesson}", responses=problems(404, 422))
def get_lesson(lesson: LessonId, room: AClassroom, caller: AsTeacher) -> LessonAnswer:
    """A lesson."""
    with room.database.read() as connection:
        return LessonAnswer(**find_lesson(connection, lesson)._asdict())
