"""Lessons."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query

from tellback.classroom.learning.definition import Definition
from tellback.classroom.store import lessons as store
from tellback.classroom.store.lessons import LessonRow, all_lessons, find_lesson
from tellback.classroom.web.dependencies import AClassroom, AsAdmin, AsEngineer, AsTeacher
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId
from tellback.classroom.web.schemas.lessons import LessonAnswer, LessonChange, Lessons, NewLesson
from tellback.classroom.web.security.callers import Caller, Role

router = api_router("lessons")


@router.post("/lessons", status_code=201, response_model=LessonAnswer, responses=problems(422))
def create_lesson(body: NewLesson, room: AClassroom, caller: AsEngineer) -> LessonRow:
    """Create a lesson: the form of its responses, and its agent."""
    settings = body.model_dump(exclude={"name"}, exclude_none=True)
    return room.create(body.name, Definition.from_data({"seed": room.new_seed(), **settings}))


@router.get("/lessons")
def list_lessons(room: AClassroom, caller: AsTeacher) -> Lessons:
    """All lessons, the newest first."""
    with room.database.read() as connection:
        found = all_lessons(connection)
    return Lessons(lessons=[LessonAnswer(**_for(caller, one)._asdict()) for one in found])


@router.get("/lessons/{lesson}", response_model=LessonAnswer, responses=problems(404, 422))
def get_lesson(lesson: LessonId, room: AClassroom, caller: AsTeacher) -> LessonRow:
    """A lesson. Its seed is for engineers only: requests of a world can be computed from it."""
    with room.database.read() as connection:
        return _for(caller, find_lesson(connection, lesson))


@router.patch("/lessons/{lesson}", response_model=LessonAnswer, responses=problems(404, 409, 422))
def change_lesson(
    lesson: LessonId, body: LessonChange, room: AClassroom, caller: AsEngineer
) -> LessonRow:
    """Rename a lesson, archive it (nobody is given responses), or change its settings."""
    with room.database.write() as connection:
        changed = store.change_lesson(connection, lesson, **body.model_dump())
    room.forget(lesson)  # it knows its name and settings
    return changed


@router.delete("/lessons/{lesson}", status_code=204, responses=problems(404, 422))
def delete_lesson(
    lesson: LessonId,
    room: AClassroom,
    caller: AsAdmin,
    word: Annotated[Literal["delete"], Query(description="Against a slip: the word `delete`.")],
) -> None:
    """Delete a lesson and all that was said in it, for good."""
    with room.database.write() as connection:
        store.delete_lesson(connection, lesson)
    room.forget(lesson)
    room.database.scrub()


def _for(caller: Caller, lesson: LessonRow) -> LessonRow:
    """A lesson as the caller may see it."""
    if caller.role.may(Role.ENGINEER):
        return lesson
    shown = {name: value for name, value in lesson.definition.items() if name != "seed"}
    return lesson._replace(definition=shown)
