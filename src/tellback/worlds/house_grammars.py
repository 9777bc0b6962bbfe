"""How paths are made of steps: waypoints, moves, or all at once as the way to a cell.

Each is a log-linear policy (``responses.Grammar``). Its features are what sentences name: types,
colours and rooms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tellback.arrays import Array
from tellback.responses import Grammar
from tellback.worlds import house_moves, house_waypoints
from tellback.worlds.house_paths import as_moves, as_texts
from tellback.worlds.house_plan import COLOUR, COLOURS, TYPE, TYPES, Ground, Plan
from tellback.worlds.house_routes import Routes


class Waypoints:
    """From waypoint to waypoint, one to three of them, by the ways of ``house_routes``.

    Two kinds of steps take turns: the next waypoint among those that are within reach, and
    whether to stop there. The features of a waypoint are type, colour and room of its thing, or
    the room, or that it is a door, and the length of the way; for the first waypoint and for later
    ones apart. Those of a stop are the number of waypoints so far, and what the last one is.

    A path may be made of waypoints in several ways. It is learned as made in the likeliest one.
    """

    def __init__(self, plan: Plan, ground: Ground, routes: Routes, rooms: int) -> None:
        self._plan, self._ways, self._routes = plan, ground.ways, routes
        self._marks = _marks_of(plan, routes, rooms)
        self.dim = house_waypoints.size(self._marks.shape[1])

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> list[str]:
        """So many paths, drawn waypoint by waypoint."""
        uniform = rng.random((count, 2 * house_waypoints.MOST))
        plan, routes = self._plan, self._routes
        drawn = house_waypoints.draw(
            weights, uniform, plan.start, plan.steps, self._ways, *routes[1:3], self._marks
        )
        return as_texts(*drawn)

    def score(self, response: str, weights: Array) -> Array | None:
        """The gradient of the log-probability; None if no waypoints make this path."""
        plan, routes = self._plan, self._routes
        moves, lengths = as_moves([response], plan.steps)
        slope, found = house_waypoints.score(
            moves[0], lengths[0], weights, plan.start, self._ways, *routes[1:3], self._marks
        )
        return slope if found else None


class Moves:
    """Move by move, until it stops.

    The features of a move are the type, the colour and the room of all that it comes closer to and
    that the path has not met yet, and whether it goes straight on or back. Those of a stop are the
    room and what is beside it.
    """

    def __init__(self, plan: Plan, ground: Ground, routes: Routes, rooms: int) -> None:
        self._plan, self._ground, self._costs, self._rooms = plan, ground, routes.costs, rooms
        self.dim = house_moves.size(rooms)

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> list[str]:
        """So many paths, drawn move by move."""
        plan = self._plan
        uniform = rng.random((count, plan.steps))
        drawn = house_moves.draw(
            weights, uniform, plan.start, plan.rooms, plan.things, *self._ground, self._costs
        )
        return as_texts(*drawn)

    def score(self, response: str, weights: Array) -> Array | None:
        """The gradient of the log-probability; None if it is no path."""
        plan = self._plan
        moves, lengths = as_moves([response], plan.steps)
        slope, found = house_moves.score(
            moves[0],
            lengths[0],
            weights,
            plan.start,
            plan.rooms,
            plan.things,
            *self._ground,
            self._costs,
        )
        return slope if found else None


class Cells:
    """One step: the shortest way to any of the other cells within reach.

    Its features are the room of the cell, that it is a door, and type and colour of what is beside.
    """

    def __init__(self, plan: Plan, ground: Ground, routes: Routes, rooms: int) -> None:
        self._plan = plan
        moves, lengths, ends = house_moves.shortest(plan.start, plan.steps, ground.ways)
        self._paths = as_texts(moves, lengths)
        self._places = {path: i for i, path in enumerate(self._paths)}
        self.dim = TYPES + COLOURS + rooms + 1
        self._phi = np.zeros((len(ends), self.dim))
        for i, end in enumerate(ends.tolist()):
            self._phi[i, TYPES + COLOURS + plan.rooms[end]] = 1.0  # the last one is a door's
            for k, (kind, colour, _) in enumerate(plan.things.tolist()):
                if ground.beside[end] >> k & 1:
                    self._phi[i, [kind, TYPES + colour]] = 1.0

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> list[str]:
        """So many paths, each to a cell."""
        if not self._paths:
            return [""] * count
        drawn = rng.choice(len(self._paths), count, p=self._chances(weights))
        return [self._paths[i] for i in drawn]

    def score(self, response: str, weights: Array) -> Array | None:
        """The gradient of the log-probability; None if this is not the shortest way."""
        if response not in self._places:
            return None
        slope: Array = self._phi[self._places[response]] - self._chances(weights) @ self._phi
        return slope

    def _chances(self, weights: Array) -> Array:
        scores = self._phi @ weights
        odds = np.exp(scores - scores.max())
        chances: Array = odds / odds.sum()
        return chances


def _marks_of(plan: Plan, routes: Routes, rooms: int) -> Array:
    """What each waypoint is: type, colour and room of a thing, or a room, or a door."""
    things = plan.things
    marks = np.zeros((len(routes.kinds), TYPES + COLOURS + 2 * rooms + 1))
    at = np.arange(len(things))
    marks[at, things[:, TYPE]] = 1.0
    marks[at, TYPES + things[:, COLOUR]] = 1.0
    marks[at, TYPES + COLOURS + rooms + plan.rooms[things[:, 2]]] = 1.0
    room = np.arange(rooms)
    marks[len(things) + room, TYPES + COLOURS + room] = 1.0
    marks[len(things) + rooms :, -1] = 1.0
    return marks


GRAMMARS: dict[str, Callable[[Plan, Ground, Routes, int], Grammar]] = {
    "waypoints": Waypoints,
    "moves": Moves,
    "cells": Cells,
}
"""The grammars of paths, by name."""
