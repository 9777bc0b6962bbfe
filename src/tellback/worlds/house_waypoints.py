"""The compiled part of the grammar of waypoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.arrays import AnyArray, Array, Indices
from tellback.compiled import compiled
from tellback.worlds.house_plan import MOVE_CODES

MOST = 3
"""The waypoints of a path at most."""

TEN = 10.0  # the unit of the length of a way
NEVER = -1e18


def size(marks: int) -> int:
    """The number of features: of a first waypoint, of a later one, and of a stop."""
    return 3 * (marks + 1) + 1


@compiled
def _pulls(weights: Array, marks: Array) -> tuple[Array, Array, Array]:
    """What the marks of each waypoint weigh: as the first, as a later one, and for a stop."""
    count, width = marks.shape
    first, later, stop = np.zeros(count), np.zeros(count), np.zeros(count)
    for w in range(count):
        for i in range(width):
            if marks[w, i] != 0.0:
                first[w] += weights[i] * marks[w, i]
                later[w] += weights[width + 1 + i] * marks[w, i]
                stop[w] += weights[2 * (width + 1) + i] * marks[w, i]
    return first, later, stop


@compiled
def _options(
    pull: Array, by_length: Any, lengths: Indices, cell: int, left: int, chances: Array
) -> float:
    """The probabilities of the waypoints within reach; returns the logarithm of their sum."""
    highest = NEVER
    for w in range(len(pull)):
        chances[w] = NEVER
        if 0 < lengths[w, cell] <= left:
            chances[w] = pull[w] + by_length * lengths[w, cell] / TEN
            highest = max(highest, chances[w])
    if highest == NEVER:
        return NEVER
    total = 0.0
    for w in range(len(pull)):
        chances[w] = np.exp(chances[w] - highest) if chances[w] != NEVER else 0.0
        total += chances[w]
    for w in range(len(pull)):
        chances[w] /= total
    total_log: float = highest + np.log(total)
    return total_log


@compiled
def _stop_weight(weights: Array, stop: Array, at: int, met: int) -> float:
    """The log-odds of a stop, where so many waypoints are met and the last is this one."""
    odds: float = stop[at] + weights[len(weights) - (2 if met == 1 else 1)]
    return odds


@compiled
def draw(
    weights: Array,
    uniform: Array,
    start: int,
    steps: int,
    ways: Indices,
    towards: Indices,
    lengths: Indices,
    marks: Array,
) -> tuple[AnyArray, Indices]:
    """Paths as rows of letters, and their lengths."""
    count, width = len(uniform), marks.shape[1]
    moves = np.full((count, steps), 32, dtype=np.uint8)
    ended = np.zeros(count, dtype=np.int64)
    first, later, stop = _pulls(weights, marks)
    chances, at_start = np.empty(len(marks)), np.empty(len(marks))
    possible = _options(first, weights[width], lengths, start, steps, at_start) != NEVER
    for i in range(count):
        cell, t = start, 0
        chances[:] = at_start
        for met in range(MOST if possible else 0):
            w = _drawn(chances, uniform[i, 2 * met])
            while towards[w, cell] >= 0:
                moves[i, t] = MOVE_CODES[towards[w, cell]]
                cell = ways[cell, towards[w, cell]]
                t += 1
            odds = _stop_weight(weights, stop, w, met + 1)
            if met == MOST - 1 or uniform[i, 2 * met + 1] < 1 / (1 + np.exp(-odds)):
                break
            if _options(later, weights[2 * width + 1], lengths, cell, steps - t, chances) == NEVER:
                break
        ended[i] = t
    return moves, ended


@compiled
def _drawn(chances: Array, u: float) -> int:
    last = 0
    for w in range(len(chances)):
        if chances[w] > 0.0:
            last = w
            u -= chances[w]
            if u < 0:
                break
    return last


@compiled
def score(
    moves: AnyArray,
    length: int,
    weights: Array,
    start: int,
    ways: Indices,
    towards: Indices,
    lengths: Indices,
    marks: Array,
) -> tuple[Array, bool]:
    """The gradient of the log-probability of the likeliest waypoints that make the path.

    ``going[k, t]`` is the log-probability of being at the end of k waypoints after t moves and
    not stopping there.
    """
    count, width = marks.shape
    steps = len(moves)
    slope = np.zeros(len(weights))
    cells, taken = _followed(moves, length, start, ways)
    if cells[length] < 0:
        return slope, False
    first, later, stop = _pulls(weights, marks)
    going = np.full((MOST + 1, length + 1), NEVER)
    last, since = np.full((MOST + 1, length + 1), -1), np.full((MOST + 1, length + 1), -1)
    number, end, begun, likeliest = 0, -1, -1, NEVER  # of the likeliest that stop at the end
    chances = np.empty(count)
    going[0, 0] = 0.0
    for met in range(MOST):
        pull, by_length = (first, weights[width]) if met == 0 else (later, weights[2 * width + 1])
        for t in range(length):
            if going[met, t] == NEVER:
                continue
            if _options(pull, by_length, lengths, cells[t], steps - t, chances) == NEVER:
                continue
            for w in range(count):
                then = t + lengths[w, cells[t]]
                if chances[w] == 0.0 or then > length:
                    continue
                s = t
                while s < then and towards[w, cells[s]] == taken[s]:
                    s += 1
                if s < then:
                    continue
                likely = going[met, t] + np.log(chances[w])
                free = _may_go_on(met + 1, lengths, cells[then], steps - then)
                odds = _stop_weight(weights, stop, w, met + 1)
                stops = likely - (np.log1p(np.exp(min(-odds, 500.0))) if free else 0.0)
                if then == length and stops > likeliest:
                    number, end, begun, likeliest = met + 1, w, t, stops
                goes = likely - np.log1p(np.exp(min(odds, 500.0)))
                if free and goes > going[met + 1, then]:
                    going[met + 1, then], last[met + 1, then], since[met + 1, then] = goes, w, t
    if number == 0:
        return slope, False
    t, stopped = length, 1.0
    for met in range(number, 0, -1):
        if met < number:
            end, begun = last[met, t], since[met, t]
        if _may_go_on(met, lengths, cells[t], steps - t):
            push = stopped - 1 / (1 + np.exp(-_stop_weight(weights, stop, end, met)))
            at = 2 * (width + 1)
            slope[at : at + width] += push * marks[end]
            slope[len(slope) - (2 if met == 1 else 1)] += push
        pull, by_length = (first, weights[width]) if met == 1 else (later, weights[2 * width + 1])
        _options(pull, by_length, lengths, cells[begun], steps - begun, chances)
        at = 0 if met == 1 else width + 1
        chances[end] -= 1.0
        for w in range(count):
            if chances[w] != 0.0:
                slope[at : at + width] -= chances[w] * marks[w]
                slope[at + width] -= chances[w] * lengths[w, cells[begun]] / TEN
        t, stopped = begun, 0.0
    return slope, True


@compiled
def _followed(moves: AnyArray, length: int, start: int, ways: Indices) -> tuple[Indices, Indices]:
    """The cells of a path, and its moves as directions; the last cell is -1 if it is no path."""
    cells, taken = np.full(length + 1, -1), np.full(length, -1)
    cells[0] = start
    for t in range(length):
        for direction in range(4):
            if moves[t] == MOVE_CODES[direction]:
                taken[t] = direction
        if taken[t] < 0 or ways[cells[t], taken[t]] < 0:
            break
        cells[t + 1] = ways[cells[t], taken[t]]
    return cells, taken


@compiled
def _may_go_on(met: int, lengths: Indices, cell: int, left: int) -> bool:
    """Whether it is a decision to stop here, as another waypoint is within reach."""
    within = 0
    for w in range(len(lengths)):
        within += 0 < lengths[w, cell] <= left
    return met < MOST and within > 0
