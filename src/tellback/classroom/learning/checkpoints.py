"""Checkpoints of the agents of lessons, so that a restart is quick."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np

from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.checkpoints import Checkpoint, read_checkpoints
from tellback.classroom.store.database import Connection
from tellback.compiled import WITHOUT_KERNELS, source_digest
from tellback.saved import packed, unpacked

LOGGER = logging.getLogger(__name__)

REFUSED, LEFT_OUT = "refused", "left_out"
"""Keys of descriptions that were not learned, in a stored state. No part of an agent has them."""


def checkpoint_of(agent: LessonAgent) -> Callable[[], Checkpoint]:
    """Copy the state of an agent and what it was taught.

    Returns what makes a checkpoint of it. That takes long, and the agent may learn meanwhile.
    """
    seq, active = agent.seq, agent.active
    refused = np.array(agent.refused, dtype=np.int64)
    left_out = np.array(sorted(agent.left_out), dtype=np.int64)
    state = {**agent.state(), REFUSED: refused, LEFT_OUT: left_out}
    return lambda: Checkpoint(seq, len(active), digest_of(active.items()), _source(), packed(state))


def start_from_checkpoint(
    connection: Connection, lesson: str, agent: LessonAgent, active: dict[int, int]
) -> None:
    """Start an agent from the newest checkpoint that was taught active descriptions only."""
    for checkpoint in read_checkpoints(connection, lesson, _source()):
        first = dict(islice(active.items(), checkpoint.learned))
        if digest_of(first.items()) != checkpoint.learned_digest:
            continue
        try:
            state = dict(unpacked(checkpoint.state))
            refused, left_out = (
                np.asarray(state.pop(name)).tolist() for name in (REFUSED, LEFT_OUT)
            )
            agent.start_from(first, state, refused, left_out)
        except Exception as error:  # damaged in any way: the log has everything
            LOGGER.warning("a checkpoint of %s cannot be used: %s", lesson, type(error).__name__)
            continue
        return


def digest_of(active: Iterable[tuple[int, int]]) -> str:
    """Digest of a list of descriptions, as (round, event)."""
    return hashlib.sha256(json.dumps(list(active)).encode()).hexdigest()


def _source() -> str:
    """Digest of the code that learns: other code may come to other bits."""
    return source_digest(without=WITHOUT_KERNELS)
