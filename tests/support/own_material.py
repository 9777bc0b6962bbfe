"""Small material of one's own, and a teacher who knows what it shows."""

from __future__ import annotations

import time
from itertools import product

import numpy as np

from tellback.classroom.learning.collecting import Collected, OwnResponse, collect
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.own_lessons import create_own_lesson
from tellback.classroom.store.database import Database
from tellback.recordings import RecordedResponse, Said

THINGS = ("mug", "plate", "book", "lamp", "spoon")
PLACES = ("shelf", "sink", "desk", "floor")


def told(steps: tuple[tuple[str, ...], ...]) -> str:
    """What somebody would say of it."""
    return f"the {steps[0][1]} went to the {steps[1][2]}"


def chores(described: bool = False) -> list[OwnResponse]:
    """Steps: each thing put into each place."""
    found = []
    for thing, place in product(THINGS, PLACES):
        steps = (("take", thing), ("put", thing, place))
        said = (Said(told(steps)), Said(f"{place}: {thing}")) if described else ()
        found.append(OwnResponse(RecordedResponse(f"{thing} {place}", "own", said, steps=steps)))
    return found


def collected(described: bool = False, **settings: float) -> Collected:
    """The same, ready for a lesson."""
    return collect(chores(described), **settings)  # type: ignore[arg-type]


def own_learner(database: Database, described: bool = False, **settings: float) -> Learner:
    """The learner of a new lesson of it."""
    return Learner(
        database, create_own_lesson(database, "chores", collected(described, **settings), seed=0)
    )


def taught(learner: Learner, rounds: int) -> None:
    """Describe some rounds, as they come."""
    for _ in range(rounds):
        claimed = learner.claim("ann", time.time() + 60)
        assert claimed is not None
        assert claimed.task.texts is not None
        lines = [line.split() for line in claimed.task.texts[claimed.response].splitlines()]
        learner.describe(claimed.task.round, "ann", told(tuple(map(tuple, lines))))


def noise(seed: int, side: int = 24) -> np.ndarray:
    """A small picture."""
    return np.random.default_rng(seed).integers(0, 255, (side, side, 3), dtype=np.uint8)
