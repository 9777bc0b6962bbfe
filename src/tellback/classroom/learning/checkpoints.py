"""States of agents that are kept, so that a restart need not learn everything again."""

from __future__ import annotations

import io
import logging
from itertools import islice

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from tellback.classroom.learning.fold import Fold, digest_of
from tellback.classroom.store.log import Kind, LessonLog, read_events
from tellback.classroom.store.tables import checkpoints
from tellback.compiled import WITHOUT_KERNELS, source_digest
from tellback.roles import State

LOGGER = logging.getLogger(__name__)

KEPT = 3
REFUSED = "refused"
"""Kept with a state: the descriptions that the model would not learn. No part has this name."""


def keep_checkpoint(log: LessonLog, fold: Fold) -> bool:
    """Keep the state of an agent and what it was taught; the oldest go.

    Not if words were redacted that it may have learned: they must not come back this way.
    """
    connection, lesson = log.connection, log.lesson
    if any(read_events(connection, lesson, after=fold.seq, kinds=[Kind.REDACTED])):
        return False
    mine = checkpoints.c.lesson == lesson
    connection.execute(delete(checkpoints).where(mine, checkpoints.c.seq == fold.seq))
    stands = fold.stands
    connection.execute(
        insert(checkpoints),
        {
            "lesson": lesson,
            "seq": fold.seq,
            "learned": len(stands),
            "learned_digest": digest_of(stands.items()),
            "source": _source(),
            "state": packed({**fold.state(), REFUSED: np.array(fold.refused, dtype=np.int64)}),
        },
    )
    newest = select(checkpoints.c.seq).where(mine).order_by(checkpoints.c.seq.desc()).limit(KEPT)
    keep = list(connection.execute(newest).scalars())
    connection.execute(delete(checkpoints).where(mine, checkpoints.c.seq.not_in(keep)))
    return True


def start_from_checkpoint(
    connection: Connection, lesson: str, fold: Fold, stands: dict[int, int]
) -> None:
    """Give a fold the newest state that was taught nothing but what stands."""
    query = (
        select(checkpoints.c.learned, checkpoints.c.learned_digest, checkpoints.c.state)
        .where(checkpoints.c.lesson == lesson, checkpoints.c.source == _source())
        .order_by(checkpoints.c.seq.desc())
    )
    for row in connection.execute(query):
        first = dict(islice(stands.items(), row.learned))
        if len(first) < row.learned or digest_of(first.items()) != row.learned_digest:
            continue
        try:
            state = dict(unpacked(bytes(row.state)))
            fold.start_from(first, state, np.asarray(state.pop(REFUSED)).tolist())
        except Exception as error:  # damaged, in whatever way: the log has it all
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
