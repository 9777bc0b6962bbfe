"""The ways to the waypoints of a house: its things, rooms and doors.

A way keeps clear of things that are not its goal: a step beside one counts as several. The last
step of a way to a room is beside no thing, if there is such a cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import AnyArray, Indices
from tellback.compiled import compiled
from tellback.worlds.house_plan import DOOR, Ground, Plan

DETOUR = 3
"""The steps that a way may be longer for each step beside a thing that it avoids."""

FAR = 10_000


class Routes(NamedTuple):
    """The ways from every cell to every waypoint: first the things, then the rooms, then the doors.

    Attributes
    ----------
    kinds : Indices
        Of each waypoint, the number of its thing or its room; of a door, -1.
    towards : Indices
        The direction of the next move from each cell, a row a waypoint; -1 where it is reached.
    lengths : Indices
        The number of moves.
    costs : Indices
        The same with the steps beside things that count more.
    """

    kinds: Indices
    towards: Indices
    lengths: Indices
    costs: Indices


def routes_of(plan: Plan, ground: Ground, rooms: int) -> Routes:
    """The ways to all waypoints of a plan."""
    return Routes(*_routes(plan.rooms, ground.ways, ground.beside, len(plan.things), rooms))


@compiled
def _routes(
    inside: Indices, ways: Indices, beside: Indices, things: int, rooms: int
) -> tuple[Indices, Indices, Indices, Indices]:
    doors = np.flatnonzero(inside == DOOR)
    count, cells = things + rooms + len(doors), len(inside)
    kinds = np.full(count, -1)
    towards = np.full((count, cells), -1)
    lengths = np.full((count, cells), FAR)
    costs = np.full((count, cells), FAR)
    waiting = np.empty((DETOUR + 2, 4 * cells), dtype=np.int64)
    goals = np.empty(cells, dtype=np.bool_)
    for w in range(count):
        own = 0
        goals[:] = False
        if w < things:
            kinds[w] = w
            own = 1 << w
            _choose(goals, beside == own, beside & own != 0)
        elif w < things + rooms:
            room = w - things
            kinds[w] = room
            free = (inside == room) & (ways[:, 0] + ways[:, 1] + ways[:, 2] + ways[:, 3] > -4)
            _choose(goals, free & (beside == 0), free)
        else:
            goals[doors[w - things - rooms]] = True
        _spread(goals, own, ways, beside, towards[w], lengths[w], costs[w], waiting)
    return kinds, towards, lengths, costs


@compiled
def _choose(goals: AnyArray, best: AnyArray, good: AnyArray) -> None:
    """Take the best goals, or the good ones if there are none."""
    goals[:] = best if best.any() else good


@compiled
def _spread(
    goals: AnyArray,
    own: int,
    ways: Indices,
    beside: Indices,
    towards: Indices,
    lengths: Indices,
    costs: Indices,
    waiting: Indices,
) -> None:
    """The cheapest ways to any of the goals, cell by cell in the order of costs (Dial 1969).

    Costs grow by 1 or by ``1 + DETOUR``, so that ``DETOUR + 2`` lists of waiting cells do.
    """
    lists = len(waiting)
    count = np.zeros(lists, dtype=np.int64)
    for cell in range(len(goals)):
        if goals[cell]:
            lengths[cell] = costs[cell] = 0
            waiting[0, count[0]] = cell
            count[0] += 1
    cost, empty = 0, 0
    while empty < lists:
        here = cost % lists
        if count[here] == 0:
            cost, empty = cost + 1, empty + 1
            continue
        empty = 0
        count[here] -= 1
        cell = waiting[here, count[here]]
        if costs[cell] != cost:  # a cheaper way was found since
            continue
        then = cost + 1
        if beside[cell] & ~own:
            then += DETOUR
        for direction in range(4):
            other = ways[cell, direction]
            if other >= 0 and costs[other] > then:
                costs[other], lengths[other] = then, lengths[cell] + 1
                towards[other] = (direction + 2) % 4  # back to where the way comes from
                waiting[then % lists, count[then % lists]] = other
                count[then % lists] += 1
