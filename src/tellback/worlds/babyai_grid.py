"""BabyAI's grid: its dynamics and its verifiers, compiled.

Chevalier-Boisvert and others (2019), "BabyAI: A Platform to Study the Sample Efficiency of Grounded
Language Learning". Tests hold every step against minigrid, which carries BabyAI.

A trajectory is a text, a letter an action: ``ACTIONS``. The last of them is minigrid's "done",
which changes nothing: by it the agent marks that it is where it wanted to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tellback.arrays import AnyArray, immutable
from tellback.compiled import compiled

ACTIONS = "lrfpdt."
"""Turn left, turn right, forward, pick up, drop, toggle, done: in minigrid's order."""

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = (ord(letter) for letter in ACTIONS)

TYPES = ("door", "key", "ball", "box")
COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
DOOR, KEY, BALL, BOX = range(len(TYPES))
FIRST_TYPE = 4
"""minigrid's number of a door. Keys, balls and boxes follow."""

WALL_CELL = 2
"""minigrid's number of a wall."""

EMPTY, WALL = -1, -2
"""What a cell of ``Things.grid`` holds, besides the numbers of things."""

OPEN, CLOSED, LOCKED = range(3)

GO, PICK, PUT = range(3)
"""Kinds of clauses: go to, pick up, put next to."""

PADDING = ord(" ")
AWAY = -9

CLAUSES = 4
"""The most clauses of an instruction."""


class Scene(NamedTuple):
    """What the agent sees at the beginning: the context of a task.

    Attributes
    ----------
    cells : array of shape (width, height, 3)
        minigrid's encoding of the grid: type, colour and state of each cell.
    agent : tuple of int
        Its column, its row, and where it looks: 0 to the right, 1 down, 2 to the left, 3 up.
    """

    cells: AnyArray
    agent: tuple[int, int, int]


class Things(NamedTuple):
    """The scene by things, in arrays for kernels.

    Attributes
    ----------
    grid : array of shape (width, height)
        The number of the thing in each cell, or ``EMPTY`` or ``WALL``.
    types, colours, doors, columns, rows : array
        Of each thing. ``doors`` is open, closed or locked.
    agent : array
        Column, row, direction, and what is carried, or ``EMPTY``.
    """

    grid: AnyArray
    types: AnyArray
    colours: AnyArray
    doors: AnyArray
    columns: AnyArray
    rows: AnyArray
    agent: AnyArray


def things_of(scene: Scene) -> Things:
    """The things of a scene, column by column as minigrid enumerates them. Read-only."""
    return _things(scene.cells.tobytes(), scene.cells.shape, scene.agent)


@lru_cache(1 << 10)
def _things(cells: bytes, shape: tuple[int, ...], agent: tuple[int, int, int]) -> Things:
    encoded = np.frombuffer(cells, dtype=np.uint8).reshape(shape).astype(np.int64)
    kinds = encoded[:, :, 0]
    grid = np.where(kinds == WALL_CELL, WALL, EMPTY)
    columns, rows = np.nonzero(kinds >= FIRST_TYPE)
    grid[columns, rows] = np.arange(len(columns))
    types, colours, doors = encoded[columns, rows].T
    arrays = (grid, types - FIRST_TYPE, colours, doors, columns, rows, np.array([*agent, EMPTY]))
    return Things(*(immutable(array) for array in arrays))


def as_codes(responses: Sequence[str], steps: int) -> AnyArray:
    """Trajectories as a matrix of letter codes, a row each, padded with spaces."""
    text = "".join([response.ljust(steps) for response in responses])
    return np.frombuffer(text.encode(), dtype=np.uint8).reshape(-1, steps)


@compiled
def front(agent: AnyArray) -> tuple[int, int]:
    """The cell before the agent."""
    towards = agent[2]
    return (
        agent[0] + (towards == 0) - (towards == 2),
        agent[1] + (towards == 1) - (towards == 3),
    )


@compiled
def take_step(
    action: int,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    agent: AnyArray,
) -> None:
    """One step of minigrid's dynamics, in place."""
    x, y = front(agent)
    thing = grid[x, y]
    if action == LEFT:
        agent[2] = (agent[2] + 3) % 4
    elif action == RIGHT:
        agent[2] = (agent[2] + 1) % 4
    elif action == FORWARD:
        if thing == EMPTY or (thing >= 0 and types[thing] == DOOR and doors[thing] == OPEN):
            agent[0], agent[1] = x, y
    elif action == PICKUP:
        if thing >= 0 and types[thing] != DOOR and agent[3] == EMPTY:
            agent[3] = thing
            grid[x, y] = EMPTY
    elif action == DROP:
        if thing == EMPTY and agent[3] != EMPTY:
            grid[x, y] = agent[3]
            agent[3] = EMPTY
    elif action == TOGGLE and thing >= 0:
        if types[thing] == BOX:  # it is gone: boxes are empty here
            grid[x, y] = EMPTY
        elif types[thing] == DOOR:
            if doors[thing] == LOCKED:
                held = agent[3]
                if held != EMPTY and types[held] == KEY and colours[held] == colours[thing]:
                    doors[thing] = OPEN
            else:
                doors[thing] = CLOSED if doors[thing] == OPEN else OPEN


@compiled
def events_of(
    codes: AnyArray,
    kind: int,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    agent: AnyArray,
    events: AnyArray,
) -> int:
    """What a trajectory did, the latest first: a thing, and its four neighbours if it was put.

    Where the agent is to go, the thing that it faced last is told, and before that those that it
    marked by "done", as it faces many on its way. Things that it picks up, or puts down beside
    others, are told each. ``grid``, ``doors`` and ``agent`` are changed.
    """
    found = 0
    marked = True
    events[:] = EMPTY
    for action in codes:
        if action == PADDING:
            break
        held = agent[3]
        take_step(action, grid, types, colours, doors, agent)
        x, y = front(agent)
        thing = grid[x, y]
        if kind == GO:
            if thing < 0 or (marked and found > 0 and events[0, 0] == thing):
                continue
            if marked:
                found += 1
                _shift(events)
            events[0, 0] = thing
            marked = action == DONE
        elif kind == PICK and held == EMPTY and agent[3] != EMPTY:
            found += 1
            _shift(events)
            events[0, 0] = agent[3]
        elif kind == PUT and held != EMPTY and agent[3] == EMPTY:
            around = (grid[x + 1, y], grid[x, y + 1], grid[x - 1, y], grid[x, y - 1])
            if max(around) >= 0:
                found += 1
                _shift(events)
                events[0, 0] = held
                for i in range(4):
                    events[0, 1 + i] = max(around[i], EMPTY)
    return min(found, len(events))


@compiled
def _shift(events: AnyArray) -> None:
    for i in range(len(events) - 1, 0, -1):
        events[i] = events[i - 1]


@compiled
def when_fulfilled(
    codes: AnyArray,
    kinds: AnyArray,
    parts: AnyArray,
    meant: AnyArray,
    beside: AnyArray,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> int:
    """After how many steps minigrid's verifiers say that an instruction is fulfilled, or -1.

    Parameters
    ----------
    kinds, parts : array
        Of each clause: its kind, and whether it is of the first part (0) or of what comes then (1).
    meant, beside : array of shape (clauses, things)
        Whether a clause can mean a thing, and whether the thing put can be put next to it.
    """
    columns, rows = columns.copy(), rows.copy()  # where minigrid thinks things are
    done = np.zeros(len(kinds), np.bool_)
    before = np.full(len(kinds), EMPTY)  # what was carried when the clause was last looked at
    for t in range(len(codes)):
        action = codes[t]
        if action == PADDING:
            break
        take_step(action, grid, types, colours, doors, agent)
        if action == DROP:  # only then does minigrid look where things are
            _locate(grid, columns, rows)
        x, y = front(agent)
        part = 0
        while part <= 1:
            left = False
            for c in range(len(kinds)):
                if parts[c] != part or done[c]:
                    continue
                held, before[c] = before[c], agent[3]
                if kinds[c] == GO:
                    for thing in range(len(types)):
                        if meant[c, thing] and columns[thing] == x and rows[thing] == y:
                            done[c] = True
                elif kinds[c] == PICK:
                    taken = action == PICKUP and held == EMPTY and agent[3] != EMPTY
                    done[c] = taken and meant[c, agent[3]]
                elif action == DROP and held != EMPTY and agent[3] != held and meant[c, held]:
                    for thing in range(len(types)):
                        apart = abs(columns[thing] - columns[held]) + abs(rows[thing] - rows[held])
                        if beside[c, thing] and apart == 1:
                            done[c] = True
                left = left or not done[c]
            if left:
                break
            part += 1
        if part > 1:
            return t + 1
    return -1


@compiled
def _locate(grid: AnyArray, columns: AnyArray, rows: AnyArray) -> None:
    """Look where each thing is. What is carried or gone is far from everything."""
    columns[:] = AWAY
    rows[:] = AWAY
    for x in range(grid.shape[0]):
        for y in range(grid.shape[1]):
            if grid[x, y] >= 0:
                columns[grid[x, y]], rows[grid[x, y]] = x, y
