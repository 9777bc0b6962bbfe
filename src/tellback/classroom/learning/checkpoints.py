"""Checkpoints: states of agents in the database, so that a restart is quick."""

from __future__ import annotations

import io
import logging
from itertools import islice

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from tellback.classroom.learning.lesson_agent import LessonAgent, digest_of
from tellback.classroom.store.log import Kind, LessonLog, read_events
from tellback.classroom.store.tables import checkpoints
from tellback.compiled import WITHOUT_KERNELS, source_digest
from tellback.roles import State

LOGGER = logging.getLogger(__name__)

KEPT = 3
REFUSED = "refused"
"""Key of the refused descriptions in a stored state. No part of an agent has this name."""


def keep_checkpoint(log: LessonLog, agent: LessonAgent) -> bool:
    """Store the state of an agent and what it was taught, and delete the oldest checkpoints.

    Returns False, and stores nothing, if words were redacted since: they must not come back.
    """
    connection, lesson = log.connection, log.lesson
    if any(read_events(connection, lesson, after=agent.seq, kinds=[Kind.REDACTED])):
        return False
    mine = checkpoints.c.lesson == lesson
    connection.execute(delete(checkpoints).where(mine, checkpoints.c.seq == agent.seq))
    active = agent.active
    connection.execute(
        insert(checkpoints),
        {
            "lesson": lesson,
            "seq": agent.seq,
            "learned": len(active),
            "learned_digest": digest_of(active.items()),
            "source": _source(),
            "state": packed({**agent.state(), REFUSED: np.array(agent.refused, dtype=np.int64)}),
        },
    )
    newest = select(checkpoints.c.seq).where(mine).order_by(checkpoints.c.seq.desc()).limit(KEPT)
    keep = list(connection.execute(newest).scalars())
    connection.execute(delete(checkpoints).where(mine, checkpoints.c.seq.not_in(keep)))
    return True


def start_from_checkpoint(
    connection: Connection, lesson: str, agent: LessonAgent, active: dict[int, int]
) -> None:
    """Start an agent from the newest checkpoint that was taught active descriptions only."""
    query = (
        select(checkpoints.c.learned, checkpoints.c.learned_digest, checkpoints.c.state)
        .where(checkpoints.c.lesson == lesson, checkpoints.c.source == _source())
        .order_by(checkpoints.c.seq.desc())
    )
    for row in connection.execute(query):
        first = dict(islice(active.items(), row.learned))
        if len(first) < row.learned or digest_of(first.items()) != row.learned_digest:
            continue
        try:
            state = dict(unpacked(bytes(row.state)))
            agent.start_from(first, state, np.asarray(state.pop(REFUSED)).tolist())
        except Exception as error:  # damaged in any way: the log has everything
            LOGGER.warning("a checkpoint of %s cannot be used: %s", lesson, type(error).__name__)
            continue
        return


def packed(state: State) -> bytes:
    """A state as bytes, without pickle."""
    file = io.BytesIO()
    arrays = {name: np.asarray(value) for name, value in state.items()}
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpacked(data: bytes) -> State:
    """A state from its bytes; numbers come back as arrays without axes."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {
            name: archive[name] if archive[name].ndim else archive[name].item()
            for name in archive.files
        }


def _source() -> str:
    """The code that learns: another may come to other bits."""
    return source_digest(without=WITHOUT_KERNELS)
