"""The success curve of a lesson on held-out requests."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, bindparam, func, insert, select

from tellback.classroom.store.tables import lessons, progress
from tellback.errors import UnknownNameError

Reached = tuple[int, int]
"""The latest event of a lesson, and the latest for which progress was computed."""

_PROGRESS = (
    select(func.coalesce(func.max(progress.c.seq), 0))
    .where(progress.c.lesson == bindparam("lesson"))
    .scalar_subquery()
)
_REACHED = select(lessons.c.events, _PROGRESS).where(lessons.c.id == bindparam("lesson"))


@dataclass(frozen=True)
class CurvePoint:
    """Number of held-out requests that were answered right after some descriptions."""

    described: int
    right: int
    requests: int


def curve(connection: Connection, lesson: str) -> list[CurvePoint]:
    """The success curve, as far as it was computed."""
    query = (
        select(progress.c.described, progress.c.right, progress.c.requests)
        .where(progress.c.lesson == lesson)
        .order_by(progress.c.seq)
    )
    return [CurvePoint(*row) for row in connection.execute(query)]


def add_point(connection: Connection, lesson: str, seq: int, point: CurvePoint) -> None:
    """Add a point after event ``seq``, unless there is one or it repeats the last."""
    mine = progress.c.lesson == lesson
    last = connection.execute(
        select(progress.c.described, progress.c.right, progress.c.requests)
        .where(mine)
        .order_by(progress.c.seq.desc())
        .limit(1)
    ).one_or_none()
    there = connection.execute(select(progress.c.seq).where(mine, progress.c.seq == seq)).first()
    if there is None and (last is None or CurvePoint(*last) != point):
        connection.execute(insert(progress), {"lesson": lesson, "seq": seq, **asdict(point)})


def find_reached(connection: Connection, lesson: str) -> Reached:
    """The latest event of a lesson, and the latest for which progress was computed."""
    row = connection.execute(_REACHED, {"lesson": lesson}).one_or_none()
    if row is None:  # the lesson was deleted meanwhile
        raise UnknownNameError(f"There is no lesson {lesson!r}.")
    latest, computed = row
    return latest, computed
