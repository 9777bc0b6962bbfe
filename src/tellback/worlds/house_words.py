"""The words of the house: names with their synonyms, and sentences about paths.

A sentence has an opening, maybe what the path goes past or through, and a goal: "walk past the lamp
to the red chair". Each part is drawn independently, so the probability of a sentence is a product.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

TYPE_NAMES = (
    ("chair", "seat", "stool"),
    ("table", "desk", "counter"),
    ("sofa", "couch", "settee"),
    ("bed", "bunk", "cot"),
    ("lamp", "light", "lantern"),
    ("plant", "fern", "flower"),
    ("shelf", "bookcase", "rack"),
    ("piano", "organ", "keyboard"),
)
COLOUR_NAMES = (
    ("red", "crimson", "scarlet"),
    ("blue", "navy", "azure"),
    ("green", "emerald", "olive"),
    ("yellow", "golden", "amber"),
    ("white", "ivory", "pale"),
    ("black", "dark", "ebony"),
)
ROOM_NAMES = (
    ("kitchen", "galley", "cookhouse"),
    ("hall", "corridor", "lobby"),
    ("bedroom", "chamber", "dormitory"),
    ("bathroom", "washroom", "lavatory"),
    ("study", "office", "library"),
    ("living room", "lounge", "parlour"),
    ("pantry", "larder", "storeroom"),
    ("nursery", "playroom", "creche"),
)
DOORWAY = ("doorway", "door", "threshold")
_NAMES = re.compile(
    r"\b(?:"
    + "|".join(name for names in (*TYPE_NAMES, *COLOUR_NAMES, *ROOM_NAMES) for name in names)
    + r")\b"
)
MOST_SYNONYMS = 3
MAIN = 0.7
"""The probability of the first name; the synonyms share the rest equally."""

WITH_COLOUR = 0.7
"""The probability that a thing is named with its colour, where it is the goal."""

TEACHING = ("go", "walk", "move", "run")
"""How descriptions begin, and also requests if the wordings are the same."""

ASKING = ("please get", "now head", "kindly step", "make your way")
"""How requests begin if no description does."""

PAST_WORDS = ("past", "by")

DIRECTLY, PAST, THROUGH = range(3)
"""How a path comes to its goal, as a sentence tells."""

THING, ROOM, DOORS = range(3)
"""The kinds of goals."""

ANY = -1
"""The colour of a thing that is named without it."""


class Meaning(NamedTuple):
    """What a sentence tells of a path.

    Attributes
    ----------
    way : int
        ``DIRECTLY``, ``PAST`` a thing or ``THROUGH`` a room.
    by : int
        The type of that thing, or that room; 0 for none.
    goal : int
        ``THING``, ``ROOM`` or ``DOORS``.
    what : int
        The type of the thing, or the room; 0 for a door.
    colour : int
        The colour of the thing, or ``ANY`` if it is not named.
    """

    way: int
    by: int
    goal: int
    what: int
    colour: int = ANY


class Names(NamedTuple):
    """The names of everything, each with its probability."""

    types: tuple[tuple[str, ...], ...]
    colours: tuple[tuple[str, ...], ...]
    rooms: tuple[tuple[str, ...], ...]
    doors: tuple[str, ...]

    @classmethod
    def of(cls, synonyms: int, rooms: int) -> Names:
        """So many names for each thing, and for so many rooms."""

        def some(names: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
            return tuple(each[:synonyms] for each in names)

        known = some(ROOM_NAMES)[:rooms]
        return cls(some(TYPE_NAMES), some(COLOUR_NAMES), known, DOORWAY[:synonyms])


def names_in(sentence: str) -> list[str]:
    """The names of things, colours and rooms in a sentence, also in capitals."""
    return _NAMES.findall(sentence.lower())


def chance_of_name(which: int, count: int) -> float:
    """The probability of the name of some number, where there are so many."""
    if count == 1:
        return 1.0
    return MAIN if which == 0 else (1 - MAIN) / (count - 1)


class Speech:
    """How meanings become sentences, and sentences meanings.

    Parameters
    ----------
    synonyms : int
        The number of names of everything.
    rooms : int
        The number of rooms.
    openings : tuple of str
        How sentences begin.
    """

    def __init__(self, synonyms: int, rooms: int, openings: tuple[str, ...]) -> None:
        self._names = Names.of(synonyms, rooms)
        self._openings = openings
        self._goals = dict(self._all_goals())
        self._byways = dict(self._all_byways())
        begun = "|".join(map(re.escape, openings))
        self._shape = re.compile(rf"(?:{begun})(?: ((?:past|by|through) the .+?))? to (.+)")

    def say(self, way: Meaning, rng: np.random.Generator) -> str:
        """A sentence of a meaning. A goal that is a thing is named with its colour, or without."""
        opening, link, name, style, first, second = rng.random(6)
        parts = [self._openings[int(opening * len(self._openings))]]
        if way.way == PAST:
            parts += [PAST_WORDS[int(link * 2)], "the", _drawn(self._names.types[way.by], name)]
        elif way.way == THROUGH:
            parts += ["through the", _drawn(self._names.rooms[way.by], name)]
        if way.goal == THING:
            parts.append("to the")
            if style < WITH_COLOUR:
                parts.append(_drawn(self._names.colours[way.colour], second))
            parts.append(_drawn(self._names.types[way.what], first))
        elif way.goal == ROOM:
            parts += ["to the", _drawn(self._names.rooms[way.what], first)]
        else:
            parts += ["to a", _drawn(self._names.doors, first)]
        return " ".join(parts)

    def understand(self, sentence: str) -> tuple[Meaning, float] | None:
        """The meaning of a sentence, and how likely its words are; None if it has no meaning.

        The probability is that of the words, given what they tell of: the way and what it passes,
        and the goal with its colour, named or not.
        """
        found = self._shape.fullmatch(sentence)
        if found is None:
            return None
        byway, goal = self._byways.get(found[1] or ""), self._goals.get(found[2])
        if byway is None or goal is None:
            return None
        (way, by, likely_byway), (kind, what, colour, likely_goal) = byway, goal
        likely = likely_byway * likely_goal / len(self._openings)
        return Meaning(way, by, kind, what, colour), likely

    def _all_byways(self) -> list[tuple[str, tuple[int, int, float]]]:
        found = [("", (DIRECTLY, 0, 1.0))]
        for kind, names in enumerate(self._names.types):
            for name, likely in _likely(names):
                share = likely / len(PAST_WORDS)
                found += [(f"{word} the {name}", (PAST, kind, share)) for word in PAST_WORDS]
        for room, names in enumerate(self._names.rooms):
            for name, likely in _likely(names):
                found.append((f"through the {name}", (THROUGH, room, likely)))
        return found

    def _all_goals(self) -> list[tuple[str, tuple[int, int, int, float]]]:
        found = [(f"a {name}", (DOORS, 0, ANY, p)) for name, p in _likely(self._names.doors)]
        for room, names in enumerate(self._names.rooms):
            found += [(f"the {name}", (ROOM, room, ANY, p)) for name, p in _likely(names)]
        for kind, names in enumerate(self._names.types):
            for name, p in _likely(names):
                found.append((f"the {name}", (THING, kind, ANY, p * (1 - WITH_COLOUR))))
                for colour, shades in enumerate(self._names.colours):
                    found += [
                        (f"the {shade} {name}", (THING, kind, colour, p * q * WITH_COLOUR))
                        for shade, q in _likely(shades)
                    ]
        return found

    def phrases(self) -> tuple[list[str], list[str]]:
        """All that a path can go past or through, and all goals, as they are said."""
        return list(self._byways), list(self._goals)

    @property
    def openings(self) -> tuple[str, ...]:
        """How sentences begin."""
        return self._openings


@lru_cache(32)
def speech(synonyms: int, rooms: int, openings: tuple[str, ...]) -> Speech:
    """The speech of a house, made once."""
    return Speech(synonyms, rooms, openings)


def _drawn(names: tuple[str, ...], u: float) -> str:
    for which, name in enumerate(names):
        u -= chance_of_name(which, len(names))
        if u < 0:
            return name
    return names[-1]


def _likely(names: tuple[str, ...]) -> list[tuple[str, float]]:
    return [(name, chance_of_name(which, len(names))) for which, name in enumerate(names)]
