"""Tasks: the features of a round's responses, and what people are shown of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, insert, select

from tellback.arrays import Array
from tellback.classroom.store.database import ADD
from tellback.classroom.store.items import find_item_pictures
from tellback.classroom.store.log import LessonLog
from tellback.classroom.store.tables import pictures, tasks
from tellback.errors import UnknownNameError

FEATURE_BYTES = 8


@dataclass(frozen=True)
class Content:
    """What people are shown of a new round."""

    context: str | None = None  # some words about the situation
    texts: list[str] | None = None  # for each response
    images: list[bytes] | None = None  # a PNG file for each response
    drawing: str | None = None  # an SVG of the chosen response, which alone is shown
    items: list[int] | None = None  # of the lesson's own material, with their pictures
    form: str | None = None  # of the words: "steps"; of the pictures: "strips"
    pictured: bool = False  # whether the items have pictures


class TaskRow(NamedTuple):
    """The task of a round, without its pictures."""

    round: int
    features: bytes  # g(y, s), a row a response, float64
    context: str | None = None
    texts: list[str] | None = None
    images: int | None = None  # the number of pictures
    drawing: str | None = None  # an SVG of the chosen response, which alone is shown
    items: list[int] | None = None  # of the lesson's own material
    form: str | None = None  # "steps" or "strips"

    def candidates(self, dim: int) -> int:
        """The number of responses with so many features."""
        return len(self.features) // (FEATURE_BYTES * dim)


def shown_data(content: Content) -> str:
    """What people are shown, without the pictures, as JSON.

    PostgreSQL's text cannot hold every character.
    """
    shown = {
        "context": content.context,
        "texts": content.texts,
        "images": None if content.images is None else len(content.images),
        "drawing": content.drawing,
        "items": content.items,
        "form": content.form,
    }
    if content.items is not None and content.pictured:
        shown["images"] = len(content.items)
    return json.dumps({name: part for name, part in shown.items() if part is not None})


_ADD_TASK = insert(tasks).execution_options(**ADD)
_ADD_PICTURES = insert(pictures).execution_options(**ADD)


def add_task(log: LessonLog, number: int, features: Array, content: Content) -> None:
    """Store the task of a round."""
    values = {
        "lesson": log.lesson,
        "round": number,
        "features": np.asarray(features, dtype="<f8").tobytes(),
        "content": shown_data(content),
    }
    log.connection.execute(_ADD_TASK, values)
    if images := content.images:
        rows = [
            {"lesson": log.lesson, "round": number, "place": place, "png": png}
            for place, png in enumerate(images)
        ]
        log.connection.execute(_ADD_PICTURES, rows)


def find_task(connection: Connection, lesson: str, number: int) -> TaskRow:
    """The task of a round; an error if there is no such round."""
    row = connection.execute(
        select(tasks.c.features, tasks.c.content).where(
            tasks.c.lesson == lesson, tasks.c.round == number
        )
    ).one_or_none()
    if row is None:
        raise UnknownNameError(f"There is no round {number} in this lesson.")
    return TaskRow(number, bytes(row.features), **json.loads(row.content))


def copied_content(connection: Connection, lesson: str, number: int) -> Content:
    """What people are shown of a round, for a new one."""
    task = find_task(connection, lesson, number)
    own = task.items is not None
    images = None if own or task.images is None else find_pictures(connection, lesson, number)
    return Content(
        task.context,
        task.texts,
        images,
        task.drawing,
        task.items,
        task.form,
        pictured=own and task.images is not None,
    )


def find_picture(connection: Connection, lesson: str, number: int, place: int) -> bytes:
    """The picture of a response, a PNG file, or of own material JPEG; an error if none."""
    shown = find_task(connection, lesson, number).items
    # Databases refuse numbers that do not fit the column.
    if not 0 <= place < (2**31 if shown is None else len(shown)):
        found = None
    elif shown is not None:
        found = find_item_pictures(connection, lesson, [shown[place]])[0]
    else:
        query = select(pictures.c.png).where(
            pictures.c.lesson == lesson, pictures.c.round == number, pictures.c.place == place
        )
        found = connection.execute(query).scalar()
    if found is None:
        raise UnknownNameError(f"There is no picture {place} in round {number}.")
    return bytes(found)


def find_pictures(connection: Connection, lesson: str, number: int) -> list[bytes]:
    """All pictures of a round, files in the order of the responses."""
    shown = find_task(connection, lesson, number).items
    if shown is not None:
        return [one for one in find_item_pictures(connection, lesson, shown) if one is not None]
    query = (
        select(pictures.c.png)
        .where(pictures.c.lesson == lesson, pictures.c.round == number)
        .order_by(pictures.c.place)
    )
    return [bytes(png) for png in connection.execute(query).scalars()]
