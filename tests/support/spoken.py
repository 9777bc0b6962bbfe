"""Sentences about four colours, and a world in which people speak of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tellback import Facts, Listed, Task
from tellback.encoders import NGrams
from tellback.similarity import SentencePair, Similar

COLOURS = ("red", "blue", "green", "yellow")
TOLD = (
    "a {} thing",
    "this is {}",
    "somebody has put something here and it is {}",
    "{}!",
    "I see that somebody chose the {} one",
    "the {} one",
)
ASKED = (
    "give me {}",
    "somebody has put something here and it is {}: find it",
    "where is {}?",
    "I see that you want the {} one",
)


def pairs(asked: tuple[str, ...], told: tuple[str, ...], alike: bool) -> list[SentencePair]:
    """All pairs of wordings and colours, listed by rule."""
    return [
        (a.format(one), t.format(other))
        for a, t in itertools.product(asked, told)
        for one, other in itertools.product(COLOURS, repeat=2)
        if (one == other) == alike
    ]


def calibrated() -> Similar:
    return Similar.calibrated(NGrams(), pairs(TOLD, TOLD, True), pairs(TOLD, TOLD, False))


class Spoken:
    """A world of three colours, in which nobody says the words that were asked."""

    facts = Facts(dim=4, instructions=None, fixed_responses=True)
    memory = 0

    def __init__(self, match: Any = None) -> None:
        if match is not None:
            self.match = match
        self._listed = Listed(np.eye(4))

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, ASKED[t % 4].format(COLOURS[int(rng.integers(4))]), self._listed)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> str | None:
        if rng.random() < 0.1:
            return None
        return TOLD[int(rng.integers(6))].format(COLOURS[response])

    def reward(self, task: Task, response: int) -> float:
        return float(COLOURS[response] in str(task.instruction))

    def best(self, task: Task) -> float:
        return 1.0
