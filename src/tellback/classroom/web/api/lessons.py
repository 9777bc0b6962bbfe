"""Lessons."""

from __future__ import annotations

from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.lessons import LessonRow, all_lessons, find_lesson
from tellback.classroom.web.dependencies import AClassroom, AsEngineer, AsTeacher
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId
from tellback.classroom.web.schemas.lessons import LessonAnswer, Lessons, NewLesson

router = api_router("lessons")


@router.post("/lessons", status_code=201, response_model=LessonAnswer, responses=problems(422))
def create_lesson(body: NewLesson, room: AClassroom, caller: AsEngineer) -> LessonRow:
    """Create a lesson: the form of its responses, and its agent."""
    settings = body.model_dump(exclude={"name"}, exclude_none=True)
    return room.create(body.name, Definition.from_data(settings))


@router.get("/lessons")
def list_lessons(room: AClassroom, caller: AsTeacher) -> Lessons:
    """All lessons, the newest first."""
    with room.database.read() as connection:
        found = all_lessons(connection)
    return Lessons(lessons=[LessonAnswer(**lesson._asdict()) for lesson in found])


@router.get("/lessons/{lesson}", response_model=LessonAnswer, responses=problems(404, 422))
def get_lesson(lesson: LessonId, room: AClassroom, caller: AsTeacher) -> LessonRow:
    """A lesson."""
    with room.database.read() as connection:
        return find_lesson(connection, lesson)
