"""Lessons: what is taught, and who learns."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.tables import lessons, metadata
from tellback.errors import UnknownNameError
from tellback.specs import Data


class LessonRow(NamedTuple):
    """A row of the table of lessons."""

    id: str
    name: str
    definition: Data
    created: float
    events: int
    rounds: int
    archived: bool = False


def create_lesson(
    connection: Connection, name: str, definition: Data, id: str | None = None
) -> LessonRow:
    """Create a lesson."""
    lesson = LessonRow(id or secrets.token_hex(8), name, definition, time.time(), 0, 0)
    values = lesson._asdict() | {"definition": json.dumps(definition, allow_nan=False)}
    try:
        connection.execute(insert(lessons), values)
    except IntegrityError as error:
        raise ConflictError("exists", f"There is a lesson {lesson.id!r} already.") from error
    return lesson


def change_lesson(
    connection: Connection,
    id: str,
    *,
    name: str | None = None,
    archived: bool | None = None,
    **settings: Any,
) -> LessonRow:
    """Rename a lesson, put it into the archive, or take it out; an error if there is none.

    It gets no name that another lesson has: people tell lessons apart by their names. ``settings``
    are those of its definition that do not touch the agent. None leaves a setting.
    """
    found = find_lesson(connection, id)
    same = select(lessons.c.id).where(lessons.c.name == name, lessons.c.id != id)
    if name is not None and connection.execute(same).first() is not None:
        raise ConflictError("exists", f"There is another lesson named “{name}” already.", "name")
    given = {"name": name, "archived": archived}
    changed = {field: value for field, value in settings.items() if value is not None}
    if changed:
        given["definition"] = json.dumps(found.definition | changed)
    values = {field: value for field, value in given.items() if value is not None}
    if values:
        connection.execute(update(lessons).where(lessons.c.id == id).values(**values))
    return find_lesson(connection, id)


def delete_lesson(connection: Connection, id: str) -> None:
    """Delete a lesson with everything that was said in it; an error if there is none."""
    find_lesson(connection, id)
    for table in reversed(metadata.sorted_tables):
        if table is not lessons and "lesson" in table.c:
            connection.execute(delete(table).where(table.c.lesson == id))
    connection.execute(delete(lessons).where(lessons.c.id == id))


def find_lesson(connection: Connection, id: str) -> LessonRow:
    """A lesson by its id, or an error."""
    row = connection.execute(select(lessons).where(lessons.c.id == id)).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no lesson {id!r}.")
    return _lesson_row(row)


def all_lessons(connection: Connection) -> list[LessonRow]:
    """Every lesson, the newest first."""
    rows = connection.execute(select(lessons).order_by(lessons.c.created.desc()))
    return [_lesson_row(row) for row in rows]


def _lesson_row(row: Any) -> LessonRow:
    return LessonRow(*row)._replace(definition=json.loads(row.definition))


def latest_events(connection: Connection) -> dict[str, int]:
    """The number of the latest event of each lesson."""
    rows = connection.execute(select(lessons.c.id, lessons.c.events))
    return {row.id: row.events for row in rows}
