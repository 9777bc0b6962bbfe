"""Items: the responses of a lesson's own material."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, insert, select

from tellback.arrays import Array
from tellback.classroom.store.tables import items

AT_ONCE = 100


class Item(NamedTuple):
    """A response of a lesson's own material.

    Attributes
    ----------
    group : str
        Items of one group are shown together.
    goal : str
        Items of one goal are never shown together; empty if it is not known.
    words : str
        The item in words; steps are lines.
    picture : bytes or None
        A JPEG file. It is written, and not read with the other fields.
    """

    group: str
    goal: str
    words: str
    picture: bytes | None = None


def add_items(connection: Connection, lesson: str, some: Sequence[Item], features: Array) -> None:
    """Store the items of a new lesson, with a row of features each."""
    for start in range(0, len(some), AT_ONCE):
        rows = [
            {
                "lesson": lesson,
                "number": number,
                "features": np.asarray(features[number], dtype="<f4").tobytes(),
                "content": json.dumps(item._replace(picture=None)._asdict()),
                "picture": item.picture,
            }
            for number, item in enumerate(some[start : start + AT_ONCE], start)
        ]
        connection.execute(insert(items), rows)


def read_items(connection: Connection, lesson: str) -> tuple[list[Item], Array]:
    """All items of a lesson without their pictures, and their features."""
    query = (
        select(items.c.features, items.c.content)
        .where(items.c.lesson == lesson)
        .order_by(items.c.number)
    )
    rows = connection.execute(query).all()
    features = np.array([np.frombuffer(row.features, dtype="<f4") for row in rows])
    return [Item(**json.loads(row.content)) for row in rows], features


def find_item_pictures(
    connection: Connection, lesson: str, numbers: Sequence[int]
) -> list[bytes | None]:
    """The pictures of some items, in this order."""
    query = select(items.c.number, items.c.picture).where(
        items.c.lesson == lesson, items.c.number.in_(numbers)
    )
    found = {row.number: row.picture for row in connection.execute(query)}
    return [None if found.get(one) is None else bytes(found[one]) for one in numbers]
