"""A trajectory in BabyAI that does the same by the shortest ways."""

from __future__ import annotations

import numpy as np

from tellback.arrays import AnyArray
from tellback.compiled import compiled
from tellback.worlds.babyai_grid import DONE, PADDING, TOGGLE, front, take_step
from tellback.worlds.babyai_search import search, write_path


@compiled
def deeds_of(
    codes: AnyArray,
    going: bool,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> AnyArray:
    """What a trajectory did on its way, a row each: the action, and the agent's state before it.

    Deeds are to pick up, to drop and to destroy; where the agent is to go somewhere, also to mark
    a thing. The last that it faces is taken as marked. Turns, moves and doors are only ways.
    """
    g, d, a = grid.copy(), doors.copy(), agent.copy()
    deeds = np.empty((len(codes) + 1, 2), np.int64)
    count, faced = 0, -1
    for action in codes:
        if action == PADDING:
            break
        state = (a[0] * g.shape[1] + a[1]) * 4 + a[2]
        x, y = front(a)
        thing, held = g[x, y], a[3]
        take_step(action, g, types, colours, d, a)
        marks = going and action == DONE and thing >= 0
        if marks or a[3] != held or (action == TOGGLE and g[x, y] != thing):
            deeds[count, 0], deeds[count, 1] = action, state
            count += 1
        x, y = front(a)
        if g[x, y] >= 0:
            faced = (a[0] * g.shape[1] + a[1]) * 4 + a[2]
    if going and faced >= 0 and not (count and deeds[count - 1, 1] == faced):
        deeds[count, 0], deeds[count, 1] = DONE, faced
        count += 1
    return deeds[:count]


@compiled
def redone(
    deeds: AnyArray,
    steps: int,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> AnyArray:
    """The actions that do these deeds in the shortest ways; none if they cannot all be done."""
    g, d, a = grid.copy(), doors.copy(), agent.copy()
    costs, before = np.empty(grid.size * 4, np.int64), np.empty(grid.size * 4, np.int64)
    codes = np.full(steps, PADDING, np.uint8)
    length = 0
    for action, state in deeds:
        search(g, types, d, a, costs, before)
        if costs[state] < 0 or length + costs[state] >= steps:
            return codes[:0]
        end = length + write_path(state, costs, before, codes[length:])
        codes[end] = action
        for t in range(length, end + 1):
            take_step(codes[t], g, types, colours, d, a)
        length = end + 1
    return codes[:length]
