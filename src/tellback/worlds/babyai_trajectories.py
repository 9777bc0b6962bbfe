"""Trajectories in BabyAI: all texts of so many actions, with features of what they did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tellback.arrays import AnyArray, Array, immutable
from tellback.compiled import compiled
from tellback.errors import SettingError
from tellback.responses import Grammar, Sampled
from tellback.worlds.babyai_grid import (
    ACTIONS,
    COLOURS,
    EMPTY,
    GO,
    PUT,
    TYPES,
    Things,
    as_codes,
    events_of,
)
from tellback.worlds.babyai_language import PLACES, places_of
from tellback.worlds.babyai_moves import Moves
from tellback.worlds.babyai_shortened import deeds_of, redone
from tellback.worlds.babyai_waypoints import Waypoints

NOUN = len(TYPES) + len(COLOURS)
NEIGHBOURS = 4

GRAMMARS: dict[str, Callable[[Things, int], Grammar]] = {"waypoints": Waypoints, "moves": Moves}


class Summary(NamedTuple):
    """What is told of a trajectory, by features: for each of its latest events.

    Attributes
    ----------
    kind : int
        Which events count: visits, things picked up, or things put next to others.
    events : int
        How many, from the last backwards.
    places : bool
        Whether places count, seen from where the agent began.
    """

    kind: int
    events: int
    places: bool

    @property
    def width(self) -> int:
        """The features of an event: that it is, type and colour, those of neighbours, places."""
        return 1 + NOUN * (1 + (self.kind == PUT)) + len(PLACES) * self.places

    @property
    def dim(self) -> int:
        """The features of a trajectory."""
        return self.events * self.width


class Trajectories(Sampled):
    """All trajectories of at most ``steps`` actions in a scene."""

    def __init__(self, things: Things, summary: Summary, steps: int) -> None:
        self._things, self._summary, self._steps = things, summary, steps
        places = places_of(things) if summary.places else np.zeros((0, 0), dtype=bool)
        self._places = immutable(places)
        self._grammars: dict[str, Grammar] = {}
        self.dim = summary.dim

    def __contains__(self, response: object, /) -> bool:
        if type(response) is not str or not 0 < len(response) <= self._steps:
            return False
        return not response.strip(ACTIONS) and set(response) <= _LETTERS

    def matrix_of(self, responses: Sequence[str]) -> Array:
        """What each trajectory did last, and before that."""
        things, summary = self._things, self._summary
        matrix = np.zeros((len(responses), summary.events, summary.width))
        codes = as_codes(responses, self._steps)
        _summarise(codes, summary.kind, *things, self._places, matrix)
        return matrix.reshape(len(responses), summary.dim)

    def events(self, response: str) -> AnyArray:
        """The latest events of a trajectory, in the order of time: a thing and its neighbours."""
        events = np.empty((self._summary.events, 1 + NEIGHBOURS), dtype=np.int64)
        things = self._things
        found = events_of(
            as_codes([response], self._steps)[0],
            self._summary.kind,
            things.grid.copy(),
            things.types,
            things.colours,
            things.doors.copy(),
            things.agent.copy(),
            events,
        )
        return events[:found][::-1]

    def shortened(self, response: str) -> str:
        """The last deeds that leave the features as they are, done in the shortest ways."""
        things, steps = self._things, self._steps
        parts = [response[: i + 1] for i in range(len(response))]
        matrix = self.matrix_of(parts)
        wanted = matrix[-1]
        cut = parts[int((matrix == wanted).all(axis=1).argmax())]
        deeds = deeds_of(as_codes([cut], steps)[0], self._summary.kind == GO, *things)
        for first in range(len(deeds) - 1, -1, -1):
            shorter = redone(deeds[first:], steps, *things).tobytes().decode()
            if shorter and np.array_equal(self.features(shorter), wanted):
                return shorter if len(shorter) <= len(response) else response
        return cut

    def draw(self, count: int, rng: np.random.Generator) -> list[str]:
        """Random actions, of any length."""
        letters = rng.integers(len(ACTIONS), size=(count, self._steps))
        lengths = rng.integers(1, self._steps + 1, size=count)
        return [
            "".join([ACTIONS[letter] for letter in row[:length]])
            for row, length in zip(letters.tolist(), lengths.tolist(), strict=True)
        ]

    def grammar(self, name: str) -> Grammar:
        """Either "waypoints", which are large steps, or "moves", which are single actions."""
        if name not in GRAMMARS:
            known = " and ".join(map(repr, GRAMMARS))
            raise SettingError(f"BabyAI has grammars named {known}, not {name!r}.")
        if name not in self._grammars:
            self._grammars[name] = GRAMMARS[name](self._things, self._steps)
        return self._grammars[name]


_LETTERS = frozenset(ACTIONS)


@compiled
def _summarise(
    codes: AnyArray,
    kind: int,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
    places: AnyArray,
    matrix: Array,
) -> None:
    events = np.empty((matrix.shape[1], 5), np.int64)
    for i in range(len(codes)):
        found = events_of(
            codes[i], kind, grid.copy(), types, colours, doors.copy(), agent.copy(), events
        )
        for e in range(found):
            row = matrix[i, found - 1 - e]  # in the order of time
            row[0] = 1.0
            thing = events[e, 0]
            row[1 + types[thing]] = 1.0
            row[1 + 4 + colours[thing]] = 1.0
            at = 11
            if kind == PUT:
                beside = 0
                for n in range(1, 5):
                    beside += events[e, n] != EMPTY
                for n in range(1, 5):
                    other = events[e, n]
                    if other != EMPTY:
                        row[at + types[other]] += 1.0 / beside
                        row[at + 4 + colours[other]] += 1.0 / beside
                at += 10
            if len(places):
                for p in range(4):
                    row[at + p] = places[thing, p]
