"""Checkpoints: stored states of agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from tellback.classroom.store.log import Kind, LessonLog, read_events
from tellback.classroom.store.tables import checkpoints

KEPT = 3


class Checkpoint(NamedTuple):
    """The state of an agent, and the descriptions that it was taught."""

    seq: int  # the latest event of the log that the agent had read
    learned: int  # the number of descriptions taught
    learned_digest: str
    source: str  # a digest of the code that learned
    state: bytes


def add_checkpoint(log: LessonLog, checkpoint: Checkpoint) -> bool:
    """Store a checkpoint, and delete the oldest ones.

    Returns False, and stores nothing, if words were redacted since: they must not come back.
    """
    connection, lesson = log.connection, log.lesson
    if any(read_events(connection, lesson, after=checkpoint.seq, kinds=[Kind.REDACTED])):
        return False
    mine = checkpoints.c.lesson == lesson
    connection.execute(delete(checkpoints).where(mine, checkpoints.c.seq == checkpoint.seq))
    connection.execute(insert(checkpoints), {"lesson": lesson, **checkpoint._asdict()})
    newest = select(checkpoints.c.seq).where(mine).order_by(checkpoints.c.seq.desc()).limit(KEPT)
    keep = list(connection.execute(newest).scalars())
    connection.execute(delete(checkpoints).where(mine, checkpoints.c.seq.not_in(keep)))
    return True


def read_checkpoints(connection: Connection, lesson: str, source: str) -> Iterator[Checkpoint]:
    """The checkpoints of a lesson by this code, the newest first."""
    query = (
        select(*(checkpoints.c[name] for name in Checkpoint._fields))
        .where(checkpoints.c.lesson == lesson, checkpoints.c.source == source)
        .order_by(checkpoints.c.seq.desc())
    )
    for row in connection.execute(query):
        yield Checkpoint(*row)._replace(state=bytes(row.state))
