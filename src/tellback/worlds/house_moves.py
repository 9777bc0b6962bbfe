"""The compiled part of the grammars of moves and of cells."""

from __future__ import annotations

import numpy as np

from tellback.arrays import AnyArray, Array, Indices
from tellback.compiled import compiled
from tellback.worlds.house_plan import COLOUR, COLOURS, MOVE_CODES, TYPE, TYPES

STOP = 4
"""The action beside the four directions."""


def size(rooms: int) -> int:
    """The number of features: of moves and of stops."""
    return 2 * (TYPES + COLOURS + rooms) + 2 + 3


@compiled
def _phi(
    phi: Array,
    cell: int,
    before: int,
    met_things: int,
    met_rooms: int,
    inside: Indices,
    things: Indices,
    ways: Indices,
    beside: Indices,
    costs: Indices,
) -> None:
    """The features of every action in a state, a row each."""
    phi[:] = 0.0
    count = len(things)
    rooms = (phi.shape[1] - 5) // 2 - TYPES - COLOURS
    about = TYPES + COLOURS + rooms
    for action in range(4):
        other = ways[cell, action]
        if other < 0:
            continue
        for k in range(count):
            if not met_things >> k & 1 and costs[k, other] < costs[k, cell]:
                phi[action, things[k, TYPE]] += 1.0
                phi[action, TYPES + things[k, COLOUR]] += 1.0
        for room in range(rooms):
            if not met_rooms >> room & 1 and costs[count + room, other] < costs[count + room, cell]:
                phi[action, TYPES + COLOURS + room] += 1.0
        phi[action, 2 * about] = action == before
        phi[action, 2 * about + 1] = before >= 0 and action == (before + 2) % 4
    stop = phi[STOP]
    for k in range(count):
        if beside[cell] >> k & 1:
            stop[about + things[k, TYPE]] = 1.0
            stop[about + TYPES + things[k, COLOUR]] = 1.0
    if inside[cell] >= 0:
        stop[about + TYPES + COLOURS + inside[cell]] = 1.0
    else:
        stop[2 * about + 2] = 1.0
    stop[2 * about + 3] = 1.0
    stop[2 * about + 4] = beside[cell] == 0


@compiled
def _chances(chances: Array, phi: Array, weights: Array, cell: int, ways: Indices) -> None:
    """The probability of every action in a state."""
    highest = -np.inf
    for action in range(5):
        score = -np.inf
        if action == STOP or ways[cell, action] >= 0:
            score = 0.0
            for i in range(len(weights)):
                if phi[action, i] != 0.0:
                    score += phi[action, i] * weights[i]
        chances[action] = score
        highest = max(highest, score)
    total = 0.0
    for action in range(5):
        chances[action] = np.exp(chances[action] - highest)
        total += chances[action]
    for action in range(5):
        chances[action] /= total


@compiled
def draw(
    weights: Array,
    uniform: Array,
    start: int,
    inside: Indices,
    things: Indices,
    ways: Indices,
    beside: Indices,
    costs: Indices,
) -> tuple[AnyArray, Indices]:
    """Paths as rows of letters, and their lengths."""
    count, steps = uniform.shape
    moves = np.full((count, steps), 32, dtype=np.uint8)
    lengths = np.full(count, steps)
    phi, chances = np.empty((5, len(weights))), np.empty(5)
    for i in range(count):
        cell, before = start, -1
        met_things, met_rooms = beside[start], 1 << inside[start]
        for t in range(steps):
            _phi(phi, cell, before, met_things, met_rooms, inside, things, ways, beside, costs)
            _chances(chances, phi, weights, cell, ways)
            u, action = uniform[i, t], STOP
            for one in range(4):
                u -= chances[one]
                if u < 0:
                    action = one
                    break
            if action == STOP:
                lengths[i] = t
                break
            moves[i, t] = MOVE_CODES[action]
            cell, before = ways[cell, action], action
            met_things |= beside[cell]
            if inside[cell] >= 0:
                met_rooms |= 1 << inside[cell]
    return moves, lengths


@compiled
def score(
    moves: AnyArray,
    length: int,
    weights: Array,
    start: int,
    inside: Indices,
    things: Indices,
    ways: Indices,
    beside: Indices,
    costs: Indices,
) -> tuple[Array, bool]:
    """The gradient of the log-probability of a path; False if it is none."""
    slope = np.zeros(len(weights))
    phi, chances = np.empty((5, len(weights))), np.empty(5)
    cell, before = start, -1
    met_things, met_rooms = beside[start], 1 << inside[start]
    for t in range(min(length + 1, len(moves))):
        action = STOP
        if t < length:
            action = -1
            for one in range(4):
                if moves[t] == MOVE_CODES[one]:
                    action = one
            if action < 0 or ways[cell, action] < 0:
                return slope, False
        _phi(phi, cell, before, met_things, met_rooms, inside, things, ways, beside, costs)
        _chances(chances, phi, weights, cell, ways)
        chances[action] -= 1.0
        for one in range(5):
            if chances[one] != 0.0:
                for i in range(len(weights)):
                    slope[i] -= chances[one] * phi[one, i]
        if action != STOP:
            cell, before = ways[cell, action], action
            met_things |= beside[cell]
            if inside[cell] >= 0:
                met_rooms |= 1 << inside[cell]
    return slope, True


@compiled
def shortest(start: int, steps: int, ways: Indices) -> tuple[AnyArray, Indices, Indices]:
    """A shortest path to every other cell within reach, its length, and its end."""
    came, far = np.full(len(ways), -1), np.full(len(ways), -1)
    queue = np.empty(len(ways), dtype=np.int64)
    queue[0] = start
    far[start] = 0
    first, last = 0, 1
    while first < last:
        cell = queue[first]
        first += 1
        for direction in range(4):
            other = ways[cell, direction]
            if other >= 0 and far[other] < 0 and far[cell] < steps:
                far[other], came[other] = far[cell] + 1, direction
                queue[last] = other
                last += 1
    moves = np.full((last - 1, steps), 32, dtype=np.uint8)
    for i in range(last - 1):
        cell = queue[i + 1]
        while cell != start:
            direction = came[cell]
            moves[i, far[cell] - 1] = MOVE_CODES[direction]
            cell = ways[cell, (direction + 2) % 4]
    ends = queue[1:last].copy()
    return moves, far[ends], ends
