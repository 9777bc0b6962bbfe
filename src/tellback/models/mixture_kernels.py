"""The compiled part of ``Mixture``: incremental EM, one description at a time.

An *entry* is a distinct pair of description and features with its count (``Counts``). Its
*responsibilities* are the expected number of times that each component produced it. ``expected``
holds their sum over the entries of each instruction, ``totals`` their sum over all entries.
Smoothing adds to both.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled, compiled_lazily
from tellback.models.counts import (
    COUNT,
    CURSOR,
    FEATURES,
    FOLLOWING,
    INSTRUCTION,
    NONE,
    SIZE,
    count,
)
from tellback.responses import TILE

NO_DATA = 1e-300
"""A component with a lower total has no data: the reciprocal of its total would not be finite."""

OTHERS = 4
"""One other entry is refreshed for so many entries of the described instruction."""


@compiled_lazily
def estimate(
    expected: Array, totals: Array, smoothing: float, x: int, columns: Array, estimates: Array
) -> None:
    """f-hat(x) . g(y) for all y. A component without data is uniform."""
    for first in range(0, len(estimates), TILE):
        tile = estimates[first : first + TILE]
        for y in range(len(tile)):
            tile[y] = 0.0
        for i in range(len(totals)):
            f = _probability(expected[x, i], totals[i], smoothing, expected.shape[0])
            if f > 0.0:
                row = columns[i, first : first + TILE]
                for y in range(len(tile)):
                    tile[y] += f * row[y]


@compiled
def mix(f: Array, columns: Array, mixed: Array) -> None:
    """Add f . g(y) for every row f and all y."""
    for row in range(len(f)):
        for i in range(len(columns)):
            for y in range(columns.shape[1]):
                mixed[row, y] += f[row, i] * columns[i, y]


@compiled_lazily
def _probability(expected: float, total: float, smoothing: float, instructions: int) -> float:
    """F[x, i] from the expected count of the instruction and the total of the component."""
    total += smoothing * instructions
    return (expected + smoothing) / total if total > NO_DATA else 1.0 / instructions


@compiled
def f_hat(expected: Array, totals: Array, smoothing: float) -> Array:
    """F-hat: its columns are distributions over the instructions."""
    f = np.empty_like(expected)
    for x in range(expected.shape[0]):
        for i in range(expected.shape[1]):
            f[x, i] = _probability(expected[x, i], totals[i], smoothing, expected.shape[0])
    return f


@compiled_lazily
def _refresh(
    numbers: Array,
    expected: Array,
    totals: Array,
    inverse_totals: Array,
    smoothing: float,
    added: float,
) -> None:
    """Recompute the responsibilities of an entry from the present F, and update the sums.

    ``numbers`` is the row of the entry, ``expected`` that of its instruction. ``added`` is the
    amount that smoothing adds to the total of a component.
    """
    dim = len(totals)
    total = 0.0
    for i in range(dim):
        total += (expected[i] + smoothing) * inverse_totals[i] * numbers[FEATURES + i]
    if not total > 0.0:
        return
    scale = numbers[COUNT] / total
    for i in range(dim):
        now = (expected[i] + smoothing) * inverse_totals[i] * numbers[FEATURES + i] * scale
        change = now - numbers[FEATURES + dim + i]
        numbers[FEATURES + dim + i] = now
        # Rounding errors of many small changes must not make the sums negative.
        one, all_ = expected[i] + change, totals[i] + change
        expected[i] = 0.0 if one < 0.0 else one
        totals[i] = 0.0 if all_ < 0.0 else all_
        smoothed = totals[i] + added
        inverse_totals[i] = 1.0 / smoothed if smoothed > NO_DATA else 0.0


@compiled_lazily
def learn(
    x: int,
    features: Array,
    first: Indices,
    links: Indices,
    numbers: Array,
    slots: Indices,
    sizes: Indices,
    expected: Array,
    totals: Array,
    refresh: int,
    smoothing: float,
) -> int:
    """Count a description; refresh the entries of its instruction, and others in turn."""
    entry = count(x, features, first, links, numbers, slots, sizes)
    if entry == NONE:
        return entry
    dim = len(totals)
    # At first the new description counts for the components as g says. So a component at zero
    # for this instruction can grow again, and a new instruction has a start.
    inverse_totals = np.zeros(dim)
    added = smoothing * expected.shape[0]
    for i in range(dim):
        numbers[entry, FEATURES + dim + i] += features[i]
        expected[x, i] += features[i]
        totals[i] += features[i]
        if totals[i] + added > NO_DATA:
            inverse_totals[i] = 1.0 / (totals[i] + added)
    remaining = refresh
    own = first[x]
    while own != NONE and remaining > 0:
        _refresh(numbers[own], expected[x], totals, inverse_totals, smoothing, added)
        own = links[own, FOLLOWING]
        remaining -= 1
    position = sizes[CURSOR]
    for _ in range(min(refresh // OTHERS, sizes[SIZE])):
        position = position + 1 if position + 1 < sizes[SIZE] else 0
        x = links[position, INSTRUCTION]
        _refresh(numbers[position], expected[x], totals, inverse_totals, smoothing, added)
    sizes[CURSOR] = position
    return entry
