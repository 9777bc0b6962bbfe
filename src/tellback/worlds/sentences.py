"""The paper's ten templates, and the probability of each of their sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

TEMPLATES = (
    "You are seeing a {object1} of color {color1}",
    "The image contains a {object1} of color {color1}",
    "There is a {color1} colored object of type {object1}",
    "A {color1} {object1}",
    "The object is a {object1} and its color is {color1}.",
    "The image has a single {color1} colored {object1}.",
    "You are seeing a {color1} colored {object1}.",
    "There is a {color1} colored object.",
    "You are seeing a {object1} in the image.",
    "There is a {color1} colored {object1}.",
)
"""Word for word from the paper. The eighth has no type, the ninth no colour: they fit several."""

Object = tuple[str, str]
"""A type and a colour."""

Thing = TypeVar("Thing")


def choice(things: Sequence[Thing], rng: np.random.Generator) -> Thing:
    """One of the things, drawn uniformly."""
    return things[int(rng.random() * len(things))]


def sample(things: Sequence[Thing], count: int, rng: np.random.Generator) -> list[Thing]:
    """Some of the things, drawn uniformly without replacement."""
    return [things[i] for i in rng.choice(len(things), count, replace=False)]


def sentences(kind: str, colour: str) -> list[str]:
    """The descriptions of an object, one for each template, equally likely."""
    return [template.format(object1=kind, color1=colour) for template in TEMPLATES]


def probabilities(objects: Iterable[Object]) -> Mapping[str, Mapping[Object, float]]:
    """P(x | y, s): for every sentence, the objects that it may describe, and how likely."""
    counts: dict[str, dict[Object, int]] = defaultdict(lambda: defaultdict(int))
    for kind, colour in objects:
        for sentence in sentences(kind, colour):
            counts[sentence][kind, colour] += 1
    return {
        sentence: {thing: count / len(TEMPLATES) for thing, count in of.items()}
        for sentence, of in counts.items()
    }
