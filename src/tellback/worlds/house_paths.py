"""Paths through a house: which there are, and what they have in common with their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tellback.arrays import AnyArray, Array, Indices
from tellback.compiled import compiled
from tellback.errors import SettingError, unknown_name
from tellback.responses import Grammar, Sampled
from tellback.worlds.house_plan import (
    COLOUR,
    COLOURS,
    MOVE_CODES,
    TYPE,
    TYPES,
    Ground,
    Plan,
    ground_of,
)
from tellback.worlds.house_routes import Routes, routes_of

ILLEGAL = -1


def path_features(rooms: int) -> int:
    """The number of features of a path."""
    return 2 * rooms + 2 * TYPES + COLOURS + 4


class Summary(NamedTuple):
    """All of a path that its descriptions depend on.

    Attributes
    ----------
    end : int
        The cell where it ends; -1 if it is no path.
    rooms, things : int
        The rooms that it was in and the things that it was beside, as bits.
    """

    end: int
    rooms: int
    things: int


class Paths(Sampled):
    """All paths of at most ``plan.steps`` moves from the start: texts such as "NNEES".

    The features say where a path ends and what it passes: the end room, type and colour of the
    thing beside its end, the rooms between the start room and the end room, the types of the
    things passed. If there are several rooms or things of a kind, they share a 1.

    Parameters
    ----------
    plan : Plan
        The floor plan.
    rooms : int
        The number of rooms.
    """

    __slots__ = ("_ground", "_made", "_plan", "_rooms", "dim")

    _plan: Plan
    _rooms: int
    _ground: Ground
    _made: dict[str, Any]

    def __init__(self, plan: Plan, rooms: int) -> None:
        set_field = super().__setattr__
        set_field("_plan", plan)
        set_field("_rooms", rooms)
        set_field("dim", path_features(rooms))
        set_field("_ground", ground_of(plan))
        set_field("_made", {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Responses cannot be changed: {name} is fixed.")

    def __reduce__(self) -> tuple[type[Paths], tuple[Plan, int]]:
        return Paths, (self._plan, self._rooms)

    def __repr__(self) -> str:
        return f"Paths(at most {self._plan.steps} moves)"

    def __contains__(self, response: object, /) -> bool:
        if type(response) is not str or len(response) > self._plan.steps:
            return False
        return summary(self._plan, self._ground, response).end >= 0

    def matrix_of(self, responses: Sequence[str]) -> Array:
        """g(y, s) of some paths, a row each."""
        plan, ground = self._plan, self._ground
        moves, lengths = as_moves(responses, plan.steps)
        rows = _features(
            moves, lengths, plan.start, plan.rooms, plan.things, *ground, self._rooms, self.dim
        )
        if np.isnan(rows).any():
            raise SettingError(f"Not all of these are paths here: {list(responses)}.")
        return rows

    def draw(self, count: int, rng: np.random.Generator) -> list[str]:
        """Uniform walks: of 1 to ``steps`` moves, each in any direction that is free."""
        steps = self._plan.steps
        walks = _walks(self._ground.ways, self._plan.start, rng.random((count, steps + 1)))
        return as_texts(*walks)

    def grammar(self, name: str) -> Grammar:
        """How paths are made: of "waypoints", of "moves", or as the way to one of the "cells"."""
        from tellback.worlds.house_grammars import GRAMMARS  # which needs this module

        if name not in GRAMMARS:
            raise unknown_name("grammar of paths named", name, GRAMMARS)
        made = self._made
        if "routes" not in made:
            made["routes"] = routes_of(self._plan, self._ground, self._rooms)
        if name not in made:
            made[name] = GRAMMARS[name](self._plan, self._ground, made["routes"], self._rooms)
        grammar: Grammar = made[name]
        return grammar

    @property
    def routes(self) -> Routes:
        """The ways to all waypoints."""
        self.grammar("waypoints")
        routes: Routes = self._made["routes"]
        return routes


def summary(plan: Plan, ground: Ground, path: str) -> Summary:
    """What descriptions of a path depend on."""
    moves = np.frombuffer(path.encode(), dtype=np.uint8)
    return Summary(*_summary(moves, len(moves), plan.start, plan.rooms, *ground))


def summaries(plan: Plan, ground: Ground, paths: Sequence[str]) -> Indices:
    """The summaries of many paths, a row each."""
    moves, lengths = as_moves(paths, plan.steps)
    return _summaries(moves, lengths, plan.start, plan.rooms, *ground)


def count_paths(plan: Plan) -> int:
    """The number of paths of at most ``plan.steps`` moves, exactly."""
    ways = ground_of(plan).ways.tolist()
    here, total = {plan.start: 1}, 1
    for _ in range(plan.steps):
        after: dict[int, int] = {}
        for cell, count in here.items():
            for other in ways[cell]:
                if other >= 0:
                    after[other] = after.get(other, 0) + count
        here = after
        total += sum(here.values())
    return total


def as_moves(paths: Sequence[str], steps: int) -> tuple[AnyArray, Indices]:
    """Paths as rows of letters, and their lengths."""
    if not set(map(type, paths)) <= {str} or max(map(len, paths), default=0) > steps:
        raise SettingError(f"Paths are texts of at most {steps} moves, not {paths!r}.")
    letters = "".join([path.ljust(steps) for path in paths]).encode("ascii", "replace")
    moves = np.frombuffer(letters, dtype=np.uint8).reshape(len(paths), steps)
    return moves, np.fromiter(map(len, paths), np.int64, len(paths))


def as_texts(moves: AnyArray, lengths: Indices) -> list[str]:
    """Rows of letters as paths."""
    text, steps = moves.tobytes().decode(), moves.shape[1]
    return [text[i * steps : i * steps + n] for i, n in enumerate(lengths.tolist())]


@compiled
def direction_of(letter: int) -> int:
    """The number of a move, or -1 if it is none."""
    for direction in range(4):
        if letter == MOVE_CODES[direction]:
            return direction
    return ILLEGAL


@compiled
def _summary(
    moves: AnyArray, length: int, start: int, inside: Indices, ways: Indices, beside: Indices
) -> tuple[int, int, int]:
    """The end, the rooms and the things; an end of -1 if it is no path."""
    cell = start
    rooms, things = 1 << inside[start], beside[start]
    for t in range(length):
        direction = direction_of(moves[t])
        if direction < 0:
            return ILLEGAL, 0, 0
        cell = ways[cell, direction]
        if cell < 0:
            return ILLEGAL, 0, 0
        if inside[cell] >= 0:
            rooms |= 1 << inside[cell]
        things |= beside[cell]
    return cell, rooms, things


@compiled
def _summaries(
    moves: AnyArray, lengths: Indices, start: int, inside: Indices, ways: Indices, beside: Indices
) -> Indices:
    rows = np.empty((len(lengths), 3), dtype=np.int64)
    for i in range(len(lengths)):
        rows[i] = np.array(_summary(moves[i], lengths[i], start, inside, ways, beside))
    return rows


@compiled
def ones(bits: int) -> int:
    """The number of bits that are set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@compiled
def _features(
    moves: AnyArray,
    lengths: Indices,
    start: int,
    inside: Indices,
    things: Indices,
    ways: Indices,
    beside: Indices,
    rooms: int,
    dim: int,
) -> Array:
    """End room or door, rooms between, things at the end and passed; NaN if it is no path."""
    out = np.zeros((len(lengths), dim))
    for i in range(len(lengths)):
        row = out[i]
        end, met_rooms, met_things = _summary(moves[i], lengths[i], start, inside, ways, beside)
        if end < 0:
            row[0] = np.nan
            continue
        between = met_rooms & ~(1 << inside[start])
        if inside[end] >= 0:
            row[inside[end]] = 1.0
            between &= ~(1 << inside[end])
        at = rooms
        for room in range(rooms):
            if between >> room & 1:
                row[at + room] = 1.0 / ones(between)
        at += rooms
        near, passed = beside[end], met_things & ~beside[end]
        for k in range(len(things)):
            if near >> k & 1:
                row[at + things[k, TYPE]] += 1.0 / ones(near)
                row[at + TYPES + things[k, COLOUR]] += 1.0 / ones(near)
            if passed >> k & 1:
                row[at + TYPES + COLOURS + things[k, TYPE]] += 1.0 / ones(passed)
        at += 2 * TYPES + COLOURS
        row[at] = inside[end] < 0
        row[at + 1] = between == 0
        row[at + 2] = near == 0
        row[at + 3] = passed == 0
    return out


@compiled
def _walks(ways: Indices, start: int, uniform: Array) -> tuple[AnyArray, Indices]:
    count, steps = uniform.shape[0], uniform.shape[1] - 1
    moves = np.full((count, steps), 32, dtype=np.uint8)
    lengths = np.empty(count, dtype=np.int64)
    for i in range(count):
        cell = start
        lengths[i] = 1 + int(uniform[i, steps] * steps)
        for t in range(lengths[i]):
            free = 0
            for direction in range(4):
                free += ways[cell, direction] >= 0
            if free == 0:
                lengths[i] = t
                break
            left = int(uniform[i, t] * free)
            for direction in range(4):
                if ways[cell, direction] >= 0:
                    if left == 0:
                        moves[i, t] = MOVE_CODES[direction]
                        cell = ways[cell, direction]
                        break
                    left -= 1
    return moves, lengths
