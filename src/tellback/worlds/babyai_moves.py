"""Trajectories in BabyAI made of single actions, each by what it brings the agent closer to."""

from __future__ import annotations

import numpy as np

from tellback.arrays import AnyArray, Array, immutable
from tellback.compiled import compiled
from tellback.worlds.babyai_grid import (
    CLOSED,
    DONE,
    DOOR,
    DROP,
    EMPTY,
    FORWARD,
    LEFT,
    OPEN,
    PADDING,
    PICKUP,
    RIGHT,
    TOGGLE,
    Things,
    as_codes,
    front,
    take_step,
)
from tellback.worlds.babyai_language import ATTRIBUTES, attributes_of
from tellback.worlds.babyai_search import beside, count_beside, distances

STAGES = 4
"""What the agent heads for depends on how many things it has marked."""

CLOSER, FACED, MARKED = 0, STAGES, 2 * STAGES
CARRYING_CLOSER, PICKED, PUT_BESIDE, STOPPED_CARRYING = range(3 * STAGES, 3 * STAGES + 4)
BLOCKS = 3 * STAGES + 4
"""A step has the attributes of things in one or two blocks: it brings the agent closer to facing
them, with empty hands, or to an empty cell beside them, carrying; it stops or marks in front of
them; it picks them up; it puts something beside them; it stops carrying them."""

STEPS = np.array([LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE, PADDING])
STOP = len(STEPS) - 1
UNDONE, PUT_ALONE, STOPPED_AFTER_PUT = range(len(STEPS), len(STEPS) + 3)
EXTRAS = len(STEPS) + 3
"""Besides, it has its own number, whether it turns back, puts something beside nothing, or stops
after it put something beside others."""

LOG_STOPPING = -3.0
"""Where all weights are 0, it stops so much less likely than it does anything else."""


class Moves:
    """The grammar of single actions in a scene.

    Only actions that change something are drawn: no steps into walls, no doors closed, and no
    boxes opened, which would destroy them. Where all weights are 0, each has the same probability
    but the end, which is seldom. Distances are those of the scene before anything was moved.
    """

    dim = BLOCKS * ATTRIBUTES + EXTRAS

    def __init__(self, things: Things, steps: int) -> None:
        self._things, self._steps = things, steps
        self._attributes = immutable(attributes_of(things))
        near = distances(things.grid, things.types, things.columns, things.rows)
        self._distances = immutable(near)

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> list[str]:
        """Trajectories, drawn action by action."""
        codes = np.full((count, self._steps), PADDING, dtype=np.uint8)
        numbers = rng.random((count, self._steps))
        _draw(codes, numbers, *self._worth(weights), self._distances, *self._things)
        text, steps = codes.tobytes().decode(), self._steps
        return [text[i : i + steps].rstrip() for i in range(0, len(text), steps)]

    def score(self, response: str, weights: Array) -> Array | None:
        """The gradient of the log-probability; None if an action has no effect or harms."""
        if not response:
            return None
        worth, extras = self._worth(weights)
        slope, slope_extras = np.zeros_like(worth), np.zeros(EXTRAS)
        codes = as_codes([response], self._steps)[0]
        near = self._distances
        if not _score(codes, slope, slope_extras, worth, extras, near, *self._things):
            return None
        return np.concatenate([(slope @ self._attributes).ravel(), slope_extras])

    def _worth(self, weights: Array) -> tuple[Array, Array]:
        """Weights times attributes, by block and thing, and the weights of all else."""
        worth = weights[:-EXTRAS].reshape(BLOCKS, ATTRIBUTES) @ self._attributes.T
        return np.ascontiguousarray(worth), weights[-EXTRAS:]


@compiled
def _features(
    step: int,
    last: int,
    stage: int,
    grid: AnyArray,
    types: AnyArray,
    doors: AnyArray,
    agent: AnyArray,
    near: AnyArray,
    steps: AnyArray,
    touched: Array,
    extras: Array,
) -> int:
    """Fill in the features of a step, and give the block of the things; -1 if not possible."""
    touched[:] = 0.0
    extras[:] = 0.0
    extras[step] = 1.0
    action = steps[step]
    x, y = front(agent)
    thing = grid[x, y]
    held = agent[3]
    if step == STOP:
        if last == PADDING:
            return -1
        if thing >= 0:
            touched[thing] = 1.0
        if last == DROP:
            extras[STOPPED_AFTER_PUT] = count_beside(x, y, grid) > 0
        return FACED + stage
    if action == PICKUP:
        if thing < 0 or types[thing] == DOOR or held != EMPTY:
            return -1
        touched[thing] = 1.0
        return PICKED
    if action == DROP:
        if thing != EMPTY or held == EMPTY:
            return -1
        extras[PUT_ALONE] = count_beside(x, y, grid) == 0
        for towards in range(4):
            ox, oy = beside(x, y, towards)
            if grid[ox, oy] >= 0:
                touched[grid[ox, oy]] = 1.0
        return PUT_BESIDE
    if action == DONE:
        if thing < 0 or last == DONE:
            return -1
        touched[thing] = 1.0
        return MARKED + stage
    towards = agent[2]
    if action in (LEFT, RIGHT):
        towards = (towards + (3 if action == LEFT else 1)) % 4
        extras[UNDONE] = last == (RIGHT if action == LEFT else LEFT)
        x, y = agent[0], agent[1]
    elif action == FORWARD:
        door = thing >= 0 and types[thing] == DOOR and doors[thing] == OPEN
        if thing != EMPTY and not door:
            return -1
    elif thing < 0 or types[thing] != DOOR or doors[thing] != CLOSED:
        return -1  # toggling
    height = grid.shape[1]
    here, there = (agent[0] * height + agent[1]) * 4 + agent[2], (x * height + y) * 4 + towards
    table = 0 if held == EMPTY else 1
    for o in range(len(types)):
        touched[o] = near[table, o, there] < near[table, o, here]
    return CLOSER + stage if held == EMPTY else CARRYING_CLOSER


@compiled
def _chances(
    last: int,
    stage: int,
    grid: AnyArray,
    types: AnyArray,
    doors: AnyArray,
    agent: AnyArray,
    near: AnyArray,
    steps: AnyArray,
    worth: Array,
    extra_weights: Array,
    blocks: AnyArray,
    touched: Array,
    extras: Array,
    chances: Array,
) -> None:
    """The probability of each step."""
    highest = -np.inf
    for step in range(len(steps)):
        chances[step] = -np.inf
        blocks[step] = block = _features(
            step, last, stage, grid, types, doors, agent, near, steps, touched[step], extras[step]
        )
        if block >= 0:
            value = LOG_STOPPING if step == STOP else 0.0
            for i in range(len(extra_weights)):
                value += extras[step, i] * extra_weights[i]
            for o in range(worth.shape[1]):
                value += touched[step, o] * worth[block, o]
            if step == STOP and agent[3] != EMPTY:
                value += worth[STOPPED_CARRYING, agent[3]]
            chances[step] = value
            highest = max(highest, value)
    total = 0.0
    for step in range(len(steps)):
        chances[step] = np.exp(chances[step] - highest)
        total += chances[step]
    for step in range(len(steps)):
        chances[step] /= total


@compiled
def _draw(
    codes: AnyArray,
    numbers: Array,
    worth: Array,
    extra_weights: Array,
    near: AnyArray,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> None:
    steps = STEPS
    blocks, touched = np.zeros(len(steps), np.int64), np.zeros((len(steps), worth.shape[1]))
    extras, chances = np.zeros((len(steps), EXTRAS)), np.zeros(len(steps))
    for i in range(len(codes)):
        g, d, a = grid.copy(), doors.copy(), agent.copy()
        last, stage = PADDING, 0
        for t in range(codes.shape[1]):
            _chances(
                last,
                stage,
                g,
                types,
                d,
                a,
                near,
                steps,
                worth,
                extra_weights,
                blocks,
                touched,
                extras,
                chances,
            )
            left, step = numbers[i, t], STOP
            for s in range(len(steps)):
                if chances[s] > 0.0:
                    step = s
                    left -= chances[s]
                    if left < 0:
                        break
            if step == STOP:
                break
            last = steps[step]
            codes[i, t] = last
            take_step(last, g, types, colours, d, a)
            if last == DONE:
                stage = min(stage + 1, STAGES - 1)


@compiled
def _score(
    codes: AnyArray,
    slope: Array,
    slope_extras: Array,
    worth: Array,
    extra_weights: Array,
    near: AnyArray,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> bool:
    steps = STEPS
    blocks, touched = np.zeros(len(steps), np.int64), np.zeros((len(steps), worth.shape[1]))
    extras, chances = np.zeros((len(steps), EXTRAS)), np.zeros(len(steps))
    g, d, a = grid.copy(), doors.copy(), agent.copy()
    last, stage = PADDING, 0
    for t in range(len(codes)):
        _chances(
            last,
            stage,
            g,
            types,
            d,
            a,
            near,
            steps,
            worth,
            extra_weights,
            blocks,
            touched,
            extras,
            chances,
        )
        taken = -1
        for s in range(len(steps)):
            if steps[s] == codes[t]:
                taken = s
        if taken < 0 or chances[taken] <= 0.0:
            return False
        for s in range(len(steps)):
            if chances[s] > 0.0:
                excess = (s == taken) - chances[s]
                slope[blocks[s]] += excess * touched[s]
                slope_extras += excess * extras[s]
                if s == STOP and a[3] != EMPTY:
                    slope[STOPPED_CARRYING, a[3]] += excess
        if taken == STOP:
            return True
        last = codes[t]
        take_step(last, g, types, colours, d, a)
        if last == DONE:
            stage = min(stage + 1, STAGES - 1)
    return True
