"""How likely the teacher of a house is to mean something of a path, and the best over all paths.

Let a path end in a cell, and let q things be passed and m rooms be between (neither at its end,
the rooms not that of the start either). The teacher names the way and the goal independently:

- the way: a thing passed (1/4, each thing 1/q), a room between (1/4, each 1/m), or nothing (1/2,
  and what has nothing to name);
- the goal: a thing beside the end (3/4, all equally), or the room or the doorway of the end (1/4,
  or 1 where nothing is beside).

So the probability depends on the end, the rooms and the things met. The best over all paths is
found by a breadth-first search over cells and sets of what was met.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.worlds.house_paths import ones
from tellback.worlds.house_plan import COLOUR, TYPE, Ground, Plan
from tellback.worlds.house_words import ANY, PAST, ROOM, THING, THROUGH, Meaning

NAMES_PASSED = 0.25
"""The probability to name a thing passed, and that to name a room between."""

NAMES_THING = 0.75
"""The probability that the goal is a thing, if one is beside the end."""


def chances(meaning: Meaning, plan: Plan, ground: Ground, summaries: Indices) -> Array:
    """The probability of a meaning, of each path that is summarised in a row."""
    start = plan.rooms[plan.start]
    return _chances(meaning, summaries, start, plan.rooms, plan.things, ground.beside)


def best_chance(meaning: Meaning, plan: Plan, ground: Ground) -> float:
    """The highest probability of a meaning over all paths."""
    return _best(
        meaning, plan.start, plan.steps, plan.rooms, plan.things, ground.ways, ground.beside
    )


@compiled
def goal_chance(
    meaning: Meaning, end: int, inside: Indices, things: Indices, beside: Indices
) -> float:
    """The probability that a goal is named, of a path with this end."""
    near = beside[end]
    if meaning.goal == THING:
        fitting = 0
        for k in range(len(things)):
            of_type = things[k, TYPE] == meaning.what
            coloured = meaning.colour == ANY or things[k, COLOUR] == meaning.colour
            fitting += (near >> k & 1) * (of_type and coloured)
        return NAMES_THING * fitting / ones(near) if fitting else 0.0
    here = inside[end] == meaning.what if meaning.goal == ROOM else inside[end] < 0
    if not here:
        return 0.0
    return 1 - NAMES_THING if near else 1.0


@compiled
def way_chance(meaning: Meaning, between: int, passed: int, things: Indices) -> float:
    """The probability that a way is named, with these rooms between and things passed."""
    if meaning.way == THROUGH:
        return NAMES_PASSED / ones(between) if between >> meaning.by & 1 else 0.0
    if meaning.way == PAST:
        fitting = 0
        for k in range(len(things)):
            fitting += (passed >> k & 1) * (things[k, TYPE] == meaning.by)
        return NAMES_PASSED * fitting / ones(passed) if fitting else 0.0
    return 1 - NAMES_PASSED * ((between != 0) + (passed != 0))


@compiled
def _chances(
    meaning: Meaning,
    summaries: Indices,
    start: int,
    inside: Indices,
    things: Indices,
    beside: Indices,
) -> Array:
    out = np.zeros(len(summaries))
    for i in range(len(summaries)):
        end, rooms, met = summaries[i]
        if end < 0:
            continue
        between = rooms & ~(1 << start)
        if inside[end] >= 0:
            between &= ~(1 << inside[end])
        goal = goal_chance(meaning, end, inside, things, beside)
        if goal > 0.0:
            out[i] = goal * way_chance(meaning, between, met & ~beside[end], things)
    return out


@compiled
def _best(
    meaning: Meaning,
    start: int,
    steps: int,
    inside: Indices,
    things: Indices,
    ways: Indices,
    beside: Indices,
) -> float:
    """The best of one search for each room that the goal may be in."""
    goals = np.zeros(len(inside))
    for cell in range(len(inside)):
        if inside[cell] >= -1:
            goals[cell] = goal_chance(meaning, cell, inside, things, beside)
    marks = np.zeros(len(inside), dtype=np.int64)
    best = 0.0
    for end in range(-1, inside.max() + 1):
        ends = goals * (inside == end)
        if not ends.any():
            continue
        # What must be remembered of a path: the rooms it was in, or the things it was beside, and
        # whether it was in another room than the first and the last.
        for cell in range(len(inside)):
            room = inside[cell]
            other = room >= 0 and room != inside[start] and room != end
            if meaning.way == THROUGH:
                marks[cell] = 1 << room if other else 0
            else:
                marks[cell] = beside[cell]
                if meaning.way != PAST and other:
                    marks[cell] |= 1 << len(things)
        best = max(best, _searched(meaning, start, steps, ends, marks, things, ways, beside, best))
    return best


@compiled
def _searched(
    meaning: Meaning,
    start: int,
    steps: int,
    ends: Array,
    marks: Indices,
    things: Indices,
    ways: Indices,
    beside: Indices,
    found: float,
) -> float:
    """Breadth-first over cells and sets of marks, without those that cannot be better."""
    cells = len(ends)
    union = 0
    for cell in range(cells):
        union |= marks[cell]
    bits = 0
    while union >> bits:
        bits += 1
    far = np.full(cells << bits, -1, dtype=np.int16)
    queue = np.empty(len(far), dtype=np.int32)
    highest = ends.max()
    spared = 0  # the things that do not count as passed, at most
    for cell in range(cells):
        if ends[cell] > 0.0:
            spared = max(spared, ones(beside[cell]))
    state = marks[start] * cells + start
    queue[0] = state
    far[state] = 0
    first, last = 0, 1
    best = found
    while first < last:
        state = queue[first]
        first += 1
        cell, met = state % cells, state // cells
        if ends[cell] > 0.0:
            best = max(best, ends[cell] * _way(meaning, met, beside[cell], things))
        if far[state] == steps or highest * _at_most(meaning, met, spared, things) <= best:
            continue
        for direction in range(4):
            other = ways[cell, direction]
            if other >= 0:
                then = (met | marks[other]) * cells + other
                if far[then] < 0:
                    far[then] = far[state] + 1
                    queue[last] = then
                    last += 1
    return best


@compiled
def _way(meaning: Meaning, met: int, near: int, things: Indices) -> float:
    """The probability of the way, from the marks that were met."""
    if meaning.way == THROUGH:
        return way_chance(meaning, met, 0, things)
    every = (1 << len(things)) - 1
    return way_chance(meaning, met & ~every, met & every & ~near, things)


@compiled
def _at_most(meaning: Meaning, met: int, spared: int, things: Indices) -> float:
    """A bound on the probability of the way, whatever else will be met."""
    if meaning.way == THROUGH:
        return NAMES_PASSED / max(1, ones(met | 1 << meaning.by))
    every = (1 << len(things)) - 1
    passed = ones(met & every) - spared
    if meaning.way == PAST:
        fitting = 0
        for k in range(len(things)):
            fitting += things[k, TYPE] == meaning.by
        return NAMES_PASSED * min(1.0, fitting / max(1, passed))
    return 1 - NAMES_PASSED * ((met > every) + (passed > 0))
