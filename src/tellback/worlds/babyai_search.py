"""The way to face a thing in BabyAI's grid, by breadth-first search over cells and directions."""

from __future__ import annotations

import numpy as np

from tellback.arrays import AnyArray
from tellback.compiled import compiled
from tellback.worlds.babyai_grid import (
    DOOR,
    EMPTY,
    FORWARD,
    LEFT,
    LOCKED,
    OPEN,
    RIGHT,
    TOGGLE,
)


@compiled
def beside(x: int, y: int, towards: int) -> tuple[int, int]:
    """The next cell in a direction."""
    return (
        x + (towards == 0) - (towards == 2),
        y + (towards == 1) - (towards == 3),
    )


@compiled
def search(
    grid: AnyArray,
    types: AnyArray,
    doors: AnyArray,
    agent: AnyArray,
    costs: AnyArray,
    before: AnyArray,
) -> None:
    """Fill in the number of actions to each (column, row, direction), and the state before it.

    Closed doors are opened on the way. A state that cannot be reached has a cost of -1. Paths are
    shortest by the number of moves and turns; opening a door is not counted in that.
    """
    height = grid.shape[1]
    costs[:] = -1
    queue = np.empty(costs.size, np.int64)
    start = (agent[0] * height + agent[1]) * 4 + agent[2]
    costs[start], before[start], queue[0] = 0, -1, start
    first, last = 0, 1
    while first < last:
        state = queue[first]
        first += 1
        towards, cell = state % 4, state // 4
        for turn in range(3):
            cost = costs[state] + 1
            if turn < 2:
                other = cell * 4 + (towards + 3 - 2 * turn) % 4
            else:
                x, y = beside(cell // height, cell % height, towards)
                thing = grid[x, y]
                if thing >= 0 and types[thing] == DOOR and doors[thing] != LOCKED:
                    cost += doors[thing] != OPEN
                elif thing != EMPTY:
                    continue
                other = (x * height + y) * 4 + towards
            if costs[other] < 0:
                costs[other], before[other] = cost, state
                queue[last] = other
                last += 1


@compiled
def nearest(x: int, y: int, height: int, costs: AnyArray) -> int:
    """The state that faces a cell at the lowest cost, or -1 if none can be reached."""
    found = -1
    for towards in range(4):
        ax, ay = beside(x, y, (towards + 2) % 4)
        state = (ax * height + ay) * 4 + towards
        if not 0 <= state < costs.size or costs[state] < 0:
            continue
        if found < 0 or costs[state] < costs[found]:
            found = state
    return found


@compiled
def count_beside(x: int, y: int, grid: AnyArray) -> int:
    """How many things are next to a cell."""
    count = 0
    for towards in range(4):
        ox, oy = beside(x, y, towards)
        count += grid[ox, oy] >= 0
    return count


@compiled
def nearest_free(x: int, y: int, grid: AnyArray, costs: AnyArray) -> int:
    """The state that faces an empty cell next to a cell, or -1.

    Of such cells, that with the fewest things beside it is taken, as what is put there is next to
    all of these; then that with the lowest cost.
    """
    found, fewest = -1, 5
    for side in range(4):
        fx, fy = beside(x, y, side)
        if not _inside(fx, fy, grid) or grid[fx, fy] != EMPTY:
            continue
        state, things = nearest(fx, fy, grid.shape[1], costs), count_beside(fx, fy, grid)
        if state < 0 or things > fewest:
            continue
        if things < fewest or costs[state] < costs[found]:
            found, fewest = state, things
    return found


@compiled
def write_path(state: int, costs: AnyArray, before: AnyArray, path: AnyArray) -> int:
    """Write the actions that lead to a state, and give their number."""
    at = length = costs[state]
    while before[state] >= 0:
        earlier = before[state]
        at -= 1
        if earlier // 4 != state // 4:
            path[at] = FORWARD
            if costs[state] - costs[earlier] == 2:
                at -= 1
                path[at] = TOGGLE
        else:
            path[at] = LEFT if (earlier + 3) % 4 == state % 4 else RIGHT
        state = earlier
    return int(length)


@compiled
def distances(grid: AnyArray, types: AnyArray, columns: AnyArray, rows: AnyArray) -> AnyArray:
    """The number of moves and turns from each state to facing each thing.

    Returns
    -------
    array of shape (2, things, states)
        First to facing the thing, then to facing an empty cell next to it. Doors count as open.
    """
    height = grid.shape[1]
    far = 4 * grid.size
    found = np.full((2, len(types), far), far, np.int32)
    queue = np.empty(far, np.int64)
    for thing in range(len(types)):
        for table in range(2):
            costs, last = found[table, thing], 0
            if table == 0:
                last = _put_facing(columns[thing], rows[thing], grid, types, costs, queue, last)
            else:
                for side in range(4):
                    x, y = beside(columns[thing], rows[thing], side)
                    if _inside(x, y, grid) and grid[x, y] == EMPTY:
                        last = _put_facing(x, y, grid, types, costs, queue, last)
            first = 0
            while first < last:
                state = queue[first]
                first += 1
                towards, cell = state % 4, state // 4
                for turn in range(3):
                    if turn < 2:
                        other = cell * 4 + (towards + 3 - 2 * turn) % 4
                    else:
                        x, y = beside(cell // height, cell % height, (towards + 2) % 4)
                        if not _inside(x, y, grid) or not _open(x, y, grid, types):
                            continue
                        other = (x * height + y) * 4 + towards
                    if costs[other] == far:
                        costs[other] = costs[state] + 1
                        queue[last] = other
                        last += 1
    return found


@compiled
def _put_facing(
    x: int, y: int, grid: AnyArray, types: AnyArray, costs: AnyArray, queue: AnyArray, last: int
) -> int:
    """Begin a search at the states that face a cell."""
    for towards in range(4):
        ax, ay = beside(x, y, (towards + 2) % 4)
        if _inside(ax, ay, grid) and _open(ax, ay, grid, types):
            state = (ax * grid.shape[1] + ay) * 4 + towards
            if costs[state] > 0:
                costs[state] = 0
                queue[last] = state
                last += 1
    return last


@compiled
def _inside(x: int, y: int, grid: AnyArray) -> bool:
    return bool(0 <= x < grid.shape[0] and 0 <= y < grid.shape[1])


@compiled
def _open(x: int, y: int, grid: AnyArray, types: AnyArray) -> bool:
    """Whether the agent can stand in a cell, if doors are opened."""
    return bool(grid[x, y] == EMPTY or (grid[x, y] >= 0 and types[grid[x, y]] == DOOR))
