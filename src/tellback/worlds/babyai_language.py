"""BabyAI's language: what its sentences mean, and how a teacher words what happened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np

from tellback.arrays import AnyArray, Array
from tellback.worlds.babyai_grid import COLOURS, GO, PICK, PUT, TYPES, Things

PLACES = ("on your left", "on your right", "in front of you", "behind you")

Thing = TypeVar("Thing")


class Described(NamedTuple):
    """The things that a noun phrase can mean; None leaves open what it is.

    Attributes
    ----------
    type, colour, place : int or None
        Numbers of ``TYPES``, ``COLOURS`` and ``PLACES``. The place is seen from where the agent
        begins.
    """

    type: int | None
    colour: int | None
    place: int | None = None

    def among(self, things: Things) -> AnyArray:
        """Which things it can mean."""
        meant = np.ones(len(things.types), dtype=bool)
        if self.type is not None:
            meant &= things.types == self.type
        if self.colour is not None:
            meant &= things.colours == self.colour
        if self.place is not None:
            meant &= places_of(things)[:, self.place]
        return meant

    def words(self, things: Things) -> str:
        """The noun phrase: "the" where it can mean one thing only. To minigrid, walls are grey."""
        wall = self.type is None and self.colour == COLOURS.index("grey")
        article = "a" if wall or self.among(things).sum() > 1 else "the"
        colour = "" if self.colour is None else COLOURS[self.colour] + " "
        noun = "object" if self.type is None else TYPES[self.type]
        place = "" if self.place is None else " " + PLACES[self.place]
        return f"{article} {colour}{noun}{place}"


def places_of(things: Things) -> AnyArray:
    """Whether each thing is at each of the places, where the agent begins."""
    x, y, towards = (int(number) for number in things.agent[:3])
    ahead = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)][towards])
    right = np.array([-ahead[1], ahead[0]])
    away = np.stack([things.columns - x, things.rows - y], axis=1)
    aside, before = away @ right, away @ ahead
    return np.stack([aside < 0, aside > 0, before > 0, before < 0], axis=1)


ATTRIBUTES = 1 + len(TYPES) + len(COLOURS) + len(PLACES)


def attributes_of(things: Things) -> Array:
    """A row a thing: 1, its type, its colour, and its places."""
    rows = [np.ones((len(things.types), 1)), np.eye(len(TYPES))[things.types]]
    rows += [np.eye(len(COLOURS))[things.colours], places_of(things)]
    return np.hstack(rows)


class Clause(NamedTuple):
    """Something to do: with a thing, and for ``PUT`` next to another."""

    kind: int
    thing: Described
    other: Described | None = None


class Meaning(NamedTuple):
    """The clauses of an instruction, in the order of time; ``first`` of them come first."""

    clauses: tuple[Clause, ...]
    first: int

    def arrays(self, things: Things) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
        """Kinds, parts, and the things that are meant, for ``when_fulfilled``."""
        count = len(self.clauses)
        meant = np.zeros((2, count, len(things.types)), dtype=bool)
        for i, clause in enumerate(self.clauses):
            meant[0, i] = clause.thing.among(things)
            if clause.other is not None:
                meant[1, i] = clause.other.among(things)
        kinds = np.array([clause.kind for clause in self.clauses])
        return kinds, (np.arange(count) >= self.first).astype(np.int64), meant[0], meant[1]


_NOUN = (
    rf"(?:a|the) (?:({'|'.join(COLOURS)}) )?({'|'.join(TYPES)}|object)(?: ({'|'.join(PLACES)}))?"
)
_CLAUSES = {
    GO: re.compile(f"go to {_NOUN}"),
    PICK: re.compile(f"pick up {_NOUN}"),
    PUT: re.compile(f"put {_NOUN} next to {_NOUN}"),
}


@lru_cache(1 << 14)
def meaning_of(sentence: str) -> Meaning | None:
    """What a sentence of BabyAI means, or None if it is none.

    Examples
    --------
    >>> meaning_of("go to the ball after you go to a red box").clauses[0].thing
    Described(type=3, colour=0, place=None)
    """
    if " after you " in sentence:
        second, first = sentence.split(" after you ", 1)
    else:
        first, _, second = sentence.partition(", then ")
    parts = [part.split(" and ") for part in (first, second) if part]
    clauses = [_clause(words) for part in parts for words in part]
    if None in clauses or any(len(part) > 2 for part in parts):
        return None
    return Meaning(tuple(clause for clause in clauses if clause), len(parts[0]))


def _clause(words: str) -> Clause | None:
    for kind, pattern in _CLAUSES.items():
        if found := pattern.fullmatch(words):
            groups = found.groups()
            return Clause(kind, *(_described(*groups[i : i + 3]) for i in range(0, len(groups), 3)))
    return None


def _described(colour: str | None, noun: str, place: str | None) -> Described:
    return Described(
        None if noun == "object" else TYPES.index(noun),
        None if colour is None else COLOURS.index(colour),
        None if place is None else PLACES.index(place),
    )


class Shape(NamedTuple):
    """How many clauses come first, how many then, and whether it is said with "after you"."""

    first: int
    second: int = 0
    after: bool = False

    def sentence(self, clauses: Sequence[str]) -> str:
        """Clauses in the order of time, joined."""
        first = " and ".join(clauses[: self.first])
        second = " and ".join(clauses[self.first :])
        if not second:
            return first
        return f"{second} after you {first}" if self.after else f"{first}, then {second}"


class Style(NamedTuple):
    """How the missions of a level are worded.

    Attributes
    ----------
    kind : int
        What is to be done.
    shapes : tuple of (Shape, int)
        How clauses are joined, and how often.
    naming : str
        How things are named: "full" by colour and type, "loose" by type and maybe colour,
        "located" in addition maybe by place, "either" by type, colour or both, "type" by type.
    """

    kind: int
    shapes: tuple[tuple[Shape, int], ...] = ((Shape(1), 1),)
    naming: str = "full"


def named(thing: int, things: Things, naming: str) -> list[tuple[float, Described]]:
    """How a thing is named, with probabilities: as the level names it, given that it fits.

    The level draws a colour or none with equal probabilities, and for half of the things that it
    names one of four places.
    """
    type_, colour = int(things.types[thing]), int(things.colours[thing])
    both = Described(type_, colour)
    if naming == "full":
        return [(1.0, both)]
    if naming == "type":
        return [(1.0, Described(type_, None))]
    if naming == "either":
        return [(1 / 3, one) for one in (Described(type_, None), Described(None, colour), both)]
    loose = [(0.5, Described(type_, None)), (0.5, both)]
    if naming == "loose":
        return loose
    at = np.flatnonzero(places_of(things)[thing])
    each = 1 / (4 + len(at))  # nowhere has the weight of all four places
    placed = [(4 * each, None), *((each, int(place)) for place in at)]
    return [(p * q, one._replace(place=place)) for p, one in loose for q, place in placed]


def clause_words(
    kind: int, event: AnyArray, things: Things, naming: str
) -> Iterator[tuple[float, str]]:
    """All wordings of one event, with probabilities."""
    thing = int(event[0])
    if kind != PUT:
        verb = "go to" if kind == GO else "pick up"
        for p, one in named(thing, things, naming):
            yield p, f"{verb} {one.words(things)}"
        return
    others = [int(other) for other in event[1:] if other >= 0]
    for other in others:
        pairs = product(named(thing, things, naming), named(other, things, naming))
        for (p, one), (q, beside) in pairs:
            share = p * q / len(others)
            yield share, f"put {one.words(things)} next to {beside.words(things)}"


def fitting(shapes: Sequence[tuple[Shape, int]], events: int) -> list[tuple[float, Shape]]:
    """The shapes of so many clauses, with probabilities."""
    found = [(weight, shape) for shape, weight in shapes if shape.first + shape.second == events]
    total = sum(weight for weight, _ in found)
    return [(weight / total, shape) for weight, shape in found]


def wording(events: AnyArray, things: Things, style: Style, rng: np.random.Generator) -> str:
    """A sentence that tells the events, drawn."""
    shape = _drawn(fitting(style.shapes, len(events)), rng)
    each = [list(clause_words(style.kind, event, things, style.naming)) for event in events]
    return shape.sentence([_drawn(ways, rng) for ways in each])


def wordings(events: AnyArray, things: Things, style: Style) -> dict[str, float]:
    """All sentences that ``wording`` draws, with their probabilities."""
    told: dict[str, float] = {}
    each = [list(clause_words(style.kind, event, things, style.naming)) for event in events]
    for p, shape in fitting(style.shapes, len(events)):
        for clauses in product(*each):
            sentence = shape.sentence([words for _, words in clauses])
            chance = p * float(np.prod([q for q, _ in clauses]))
            told[sentence] = told.get(sentence, 0.0) + chance
    return told


def _drawn(weighted: Sequence[tuple[float, Thing]], rng: np.random.Generator) -> Thing:
    if len(weighted) == 1:
        return weighted[0][1]
    left = rng.random()
    for weight, thing in weighted:
        left -= weight
        if left < 0:
            return thing
    return weighted[-1][1]
