"""The paper's ten templates, and the probability of every sentence that they give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

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
"""Word for word the paper's. The eighth names no type and the ninth no colour: they fit several."""

Object = tuple[str, str]
"""A type and a colour."""


def sentences(kind: str, colour: str) -> list[str]:
    """What may be said of an object, a sentence a template, each equally likely."""
    return [template.format(object1=kind, color1=colour) for template in TEMPLATES]


def probabilities(objects: Iterable[Object]) -> Mapping[str, Mapping[Object, float]]:
    """P(x | y, s): for every sentence, the objects of which it may be said, and how likely."""
    counts: dict[str, dict[Object, int]] = defaultdict(lambda: defaultdict(int))
    for kind, colour in objects:
        for sentence in sentences(kind, colour):
            counts[sentence][kind, colour] += 1
    return {
        sentence: {thing: count / len(TEMPLATES) for thing, count in of.items()}
        for sentence, of in counts.items()
    }
