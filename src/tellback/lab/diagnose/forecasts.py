"""Forecasts of descriptions, each made before the description was known.

All forecasts are prequential: entry i uses only the descriptions before i. Log losses are
compared, so no forecast may be zero for a description that came. Each is therefore mixed with
the frequencies of the descriptions so far (hedged); the share of the frequencies is learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from tellback.arrays import Array

HEDGES = (0.001, 0.01, 0.1, 0.3, 1.0)
"""Shares of the frequencies in a hedged forecast; the best one is learned."""

LIGHTLY = (0.01,)
"""Just enough to avoid zeros."""

PULLS = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
"""Weights of the overall frequencies in a table, in descriptions; the best one is learned."""

NEW_SENTENCE = 1e-6
"""The weight of a new sentence, in descriptions; the same for all forecasts."""

NEW_INSTRUCTION = 0.5
"""The weight of a new row in a table of instructions (Krichevsky and Trofimov 1981)."""


def averaged(forecasts: Array) -> Array:
    """Columns of forecasts, averaged with weights by how well each has done before.

    Bayes' rule: over the whole run this loses at most the log of the number of columns
    against the best of them.
    """
    losses = -np.log(forecasts)
    before = np.vstack([np.zeros(losses.shape[1]), np.cumsum(losses, axis=0)[:-1]])
    weights = np.exp(before.min(axis=1, keepdims=True) - before)
    weights /= weights.sum(axis=1, keepdims=True)
    mean: Array = (weights * forecasts).sum(axis=1)
    return mean


def frequencies(descriptions: Sequence[Hashable], instructions: int | None) -> Array:
    """How often each description had come before: the best forecast without the response."""
    seen: Counter[Hashable] = Counter()
    weight, all_new = NEW_SENTENCE, 1.0
    if instructions is not None:
        weight, all_new = NEW_INSTRUCTION, NEW_INSTRUCTION * instructions
    values = np.empty(len(descriptions))
    for i, x in enumerate(descriptions):
        values[i] = (seen[x] + weight) / (i + all_new)
        seen[x] += 1
    return values


def hedged(forecasts: Array, known: Array, hedges: Sequence[float] = HEDGES) -> Array:
    """Forecasts mixed with the frequencies."""
    shares = np.array(hedges)
    # A model in single precision may sum to a little more than 1.
    clipped = np.clip(forecasts, 0.0, 1.0)[:, None]
    return averaged((1 - shares) * clipped + shares * known[:, None])


def tabulated(
    responses: Sequence[Hashable], descriptions: Sequence[Hashable], known: Array
) -> Array:
    """A table of frequencies for each response, its rows shrunk to the overall frequencies."""
    rows: Counter[Hashable] = Counter()
    cells: Counter[Hashable] = Counter()
    of_row, of_cell = np.empty(len(known)), np.empty(len(known))
    for i, (y, x) in enumerate(zip(responses, descriptions, strict=True)):
        of_row[i], of_cell[i] = rows[y], cells[y, x]
        rows[y] += 1
        cells[y, x] += 1
    pulls = np.array(PULLS)
    table = (of_cell[:, None] + pulls * known[:, None]) / (of_row[:, None] + pulls)
    return averaged(table)
