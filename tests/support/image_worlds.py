"""Small worlds of pictures, and their tasks."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import numpy as np

from tellback import Simulation, Task
from tellback.encoders import Thumbnail
from tellback.worlds import Images

TYPES = ("square", "rectangle", "triangle", "circle")
COLOURS = ("red", "blue", "green", "yellow", "black", "grey", "cyan", "orange")
OBJECTS = list(product(TYPES, COLOURS))
SMALL = Images(encoder=Thumbnail(cells=1))
OF_A_RED_SQUARE = [
    "You are seeing a square of color red",
    "The image contains a square of color red",
    "There is a red colored object of type square",
    "A red square",
    "The object is a square and its color is red.",
    "The image has a single red colored square.",
    "You are seeing a red colored square.",
    "There is a red colored object.",
    "You are seeing a square in the image.",
    "There is a red colored square.",
]


@cache
def said_of(kind: str, colour: str) -> tuple[str, ...]:
    """The ten sentences of an object; whole words only, for 'colored' has a 'red' in it."""
    named = [re.sub(r"\bred\b", colour, sentence) for sentence in OF_A_RED_SQUARE]
    return tuple(re.sub(r"\bsquare\b", kind, sentence) for sentence in named)


def probability(sentence: str, kind: str, colour: str) -> float:
    """P(x | y, s) by counting."""
    return said_of(kind, colour).count(sentence) / 10


def begun(spec: Images = SMALL) -> Simulation:
    return spec.build(np.random.default_rng(0))


def rewards_of(simulation: Simulation, task: Task) -> list[float]:
    assert simulation.truth is not None
    return [simulation.truth.reward(task, y) for y in range(len(task.context.shapes))]
