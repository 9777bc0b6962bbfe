"""Trajectories in BabyAI made of large steps: go to a thing, take it, put it next to another."""

from __future__ import annotations

import numpy as np

from tellback.arrays import AnyArray, Array, immutable
from tellback.compiled import compiled
from tellback.worlds.babyai_grid import (
    DONE,
    DOOR,
    DROP,
    EMPTY,
    PADDING,
    PICKUP,
    Things,
    as_codes,
    take_step,
)
from tellback.worlds.babyai_language import ATTRIBUTES, attributes_of
from tellback.worlds.babyai_search import nearest, nearest_free, search, write_path

MOST = 4
"""The most large steps of a trajectory."""

SORTS = 3
"""Go to a thing, and mark that by "done"; take it; put what is carried next to it."""


class Waypoints:
    """The grammar of large steps in a scene.

    The features of a step are type, colour and place of its thing, apart for each sort of step and
    for the first, second, ... step. If all weights are 0, each sort of step that is possible has
    the same probability, stopping included, and each of its things the same share of that.
    """

    dim = MOST * SORTS * ATTRIBUTES + MOST

    def __init__(self, things: Things, steps: int) -> None:
        self._things, self._steps = things, steps
        self._attributes = immutable(attributes_of(things))

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> list[str]:
        """Trajectories, drawn step by step."""
        codes = np.full((count, self._steps), PADDING, dtype=np.uint8)
        _draw(codes, rng.random((count, MOST)), *self._worth(weights), *self._things)
        text, steps = codes.tobytes().decode(), self._steps
        drawn = [text[i : i + steps].rstrip() for i in range(0, len(text), steps)]
        return [one for one in drawn if one]  # where there is no way to anything, none is drawn

    def score(self, response: str, weights: Array) -> Array | None:
        """The gradient of the log-probability; None if it is not made of large steps."""
        if not response:
            return None
        worth, stopping = self._worth(weights)
        slope, slope_stopping = np.zeros_like(worth), np.zeros_like(stopping)
        codes = as_codes([response], self._steps)[0]
        if not _score(codes, slope, slope_stopping, worth, stopping, *self._things):
            return None
        by_attributes = slope.reshape(MOST * SORTS, -1) @ self._attributes
        return np.concatenate([by_attributes.ravel(), slope_stopping])

    def _worth(self, weights: Array) -> tuple[Array, Array]:
        """The sum of weights and features of each step, sort and thing, and of stopping."""
        by_attributes = weights[:-MOST].reshape(MOST * SORTS, ATTRIBUTES)
        worth = by_attributes @ self._attributes.T
        return np.ascontiguousarray(worth.reshape(MOST, -1)), weights[-MOST:]


@compiled
def _options(
    k: int,
    room: int,
    worth: Array,
    stopping: Array,
    grid: AnyArray,
    types: AnyArray,
    doors: AnyArray,
    agent: AnyArray,
    costs: AnyArray,
    before: AnyArray,
    goals: AnyArray,
    chances: Array,
) -> None:
    """The steps that are possible as the k-th: where they end (or -1), and their probabilities."""
    things = len(types)
    search(grid, types, doors, agent, costs, before)
    goals[:] = -1
    numbers = np.zeros(SORTS + 1)
    numbers[SORTS] = k > 0
    for x in range(grid.shape[0]):
        for y in range(grid.shape[1]):
            thing = grid[x, y]
            if thing < 0:
                continue
            for sort in range(SORTS):
                if sort == 2:
                    if agent[3] == EMPTY:
                        continue
                    state = nearest_free(x, y, grid, costs)
                else:
                    if sort == 1 and (agent[3] != EMPTY or types[thing] == DOOR):
                        continue
                    state = nearest(x, y, grid.shape[1], costs)
                # To go where one is already would be no step.
                if state >= 0 and costs[state] < room and (sort > 0 or costs[state] > 0):
                    goals[sort * things + thing] = state
                    numbers[sort] += 1
    chances[:] = 0.0
    highest = -np.inf
    for option in range(SORTS * things + 1):
        sort = option // things if option < SORTS * things else SORTS
        if (sort < SORTS and goals[option] < 0) or (sort == SORTS and k == 0):
            chances[option] = -np.inf
            continue
        value = worth[k, option] if sort < SORTS else stopping[k]
        chances[option] = value - np.log(numbers[sort])
        highest = max(highest, chances[option])
    total = 0.0
    for option in range(len(chances)):
        chances[option] = np.exp(chances[option] - highest) if highest > -np.inf else 0.0
        total += chances[option]
    for option in range(len(chances)):
        chances[option] /= max(total, 1e-300)


@compiled
def _draw(
    codes: AnyArray,
    numbers: Array,
    worth: Array,
    stopping: Array,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> None:
    """Draw all trajectories step by step. Those that began alike share their searches."""
    count, things, steps = len(codes), len(types), codes.shape[1]
    costs, before = np.empty(grid.size * 4, np.int64), np.empty(grid.size * 4, np.int64)
    goals, chances = np.empty(SORTS * things + 1, np.int64), np.empty(SORTS * things + 1)
    grids = np.empty((count, *grid.shape), grid.dtype)  # of the first of those alike
    opened, agents = np.empty((count, len(doors)), doors.dtype), np.empty((count, 4), agent.dtype)
    grids[0], opened[0], agents[0] = grid, doors, agent
    lengths = np.zeros(count, np.int64)
    alike = np.zeros(count, np.int64)  # the first that began the same way; -1 where one has ended
    later = alike.copy()  # the same after the next step
    taken = np.empty(SORTS * things, np.int64)  # who took an option first
    for k in range(MOST):
        for leader in range(count):
            if alike[leader] != leader:
                continue
            g, d, a = grids[leader].copy(), opened[leader].copy(), agents[leader].copy()
            begin = lengths[leader]
            _options(
                k, steps - begin, worth, stopping, g, types, d, a, costs, before, goals, chances
            )
            taken[:] = -1
            for i in range(leader, count):
                if alike[i] != leader:
                    continue
                option, left = -1, numbers[i, k]
                for o in range(len(chances)):
                    if chances[o] > 0.0:
                        option = o
                        left -= chances[o]
                        if left < 0:
                            break
                if option < 0 or option == SORTS * things:
                    later[i] = -1
                elif taken[option] >= 0:
                    first = taken[option]
                    later[i] = first
                    codes[i], lengths[i] = codes[first], lengths[first]
                else:
                    taken[option] = later[i] = i
                    path = codes[i, begin:]
                    length = write_path(goals[option], costs, before, path)
                    sort = option // things
                    path[length] = DONE if sort == 0 else (PICKUP if sort == 1 else DROP)
                    grids[i], opened[i], agents[i] = g, d, a
                    for t in range(length + 1):
                        take_step(path[t], grids[i], types, colours, opened[i], agents[i])
                    lengths[i] = begin + length + 1
        alike[:] = later


@compiled
def _score(
    codes: AnyArray,
    slope: Array,
    slope_stopping: Array,
    worth: Array,
    stopping: Array,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> bool:
    things, steps = len(types), len(codes)
    costs, before = np.empty(grid.size * 4, np.int64), np.empty(grid.size * 4, np.int64)
    goals, chances = np.empty(SORTS * things + 1, np.int64), np.empty(SORTS * things + 1)
    path = np.empty(steps + 1, np.uint8)
    likely = np.empty(SORTS * things + 1)
    g, d, a = grid.copy(), doors.copy(), agent.copy()
    begin = 0
    for k in range(MOST + 1):
        ended = begin == steps or codes[begin] == PADDING
        if k == MOST:
            return ended
        _options(
            k,
            steps - begin,
            worth,
            stopping,
            g,
            types,
            d,
            a,
            costs,
            before,
            goals,
            chances,
        )
        likely[:] = 0.0
        if ended:
            likely[SORTS * things] = chances[SORTS * things]
        else:
            end = begin
            while end < steps and codes[end] not in (DONE, PICKUP, DROP, PADDING):
                end += 1
            if end == steps or codes[end] == PADDING:
                return False
            sort = 0 if codes[end] == DONE else (1 if codes[end] == PICKUP else 2)
            for option in range(sort * things, (sort + 1) * things):
                if goals[option] >= 0 and costs[goals[option]] == end - begin:
                    write_path(goals[option], costs, before, path)
                    same = True
                    for t in range(begin, end):
                        same = same and path[t - begin] == codes[t]
                    if same:
                        likely[option] = chances[option]
            for t in range(begin, end + 1):
                take_step(codes[t], g, types, colours, d, a)
            begin = end + 1
        total = likely.sum()
        if total <= 0.0:
            return False
        for option in range(len(likely)):
            excess = likely[option] / total - chances[option]
            if option < SORTS * things:
                slope[k, option] += excess
            else:
                slope_stopping[k] += excess
        if ended:
            return True
    return True
