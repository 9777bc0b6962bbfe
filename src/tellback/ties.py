"""The one rule for ties: which of some values count as equally high."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled, compiled_freely, compiled_lazily
from tellback.errors import one_of

TIES = ("first", "random")
"""How to choose among equally good responses: the first listed, or one at random."""

Ties = Annotated[str, partial(one_of, options=TIES)]
"""A setting that is one of them."""

TOLERANCE = 1e-9
"""Values that differ by less than this, relatively, are equal: the rest is rounding.

Estimates that are equal in exact arithmetic drift apart by some 1e-12 in 10,000 rounds.
"""


@compiled_lazily
def maxima(values: Array, random: bool) -> Indices:
    """Where the highest values are: all that tie, or the first of them only.

    Empty if any value is not finite.
    """
    tied = np.empty(len(values), np.int64)
    count = 0
    if np.isfinite(_total(values)):
        highest = _highest(values)
        lowest = highest - TOLERANCE * abs(highest)
        for first in range(0, len(values), _BLOCK):
            block = values[first : first + _BLOCK]
            if not _reaches(block, lowest):
                continue
            for y in range(len(block)):
                if block[y] >= lowest and (random or not count):
                    tied[count] = first + y
                    count += 1
    return tied[:count]


_BLOCK = 64  # values, passed over at once if none of them is high enough


@compiled_freely
def _total(values: Array) -> float:
    total = 0.0
    for y in range(len(values)):
        total += values[y]
    return total


@compiled_lazily
def _highest(values: Array) -> float:
    """The highest of finite values, in eight lanes that do not wait for each other."""
    lanes = np.full(8, values[0])
    whole = len(values) - len(values) % 8
    for first in range(0, whole, 8):
        for i in range(8):
            lanes[i] = values[first + i] if values[first + i] > lanes[i] else lanes[i]
    highest: float = lanes[0]
    for value in lanes:
        highest = value if value > highest else highest
    for y in range(whole, len(values)):
        highest = values[y] if values[y] > highest else highest
    return highest


@compiled_lazily
def _reaches(values: Array, lowest: float) -> bool:
    """Whether any value is high enough. It counts: a loop that may end early has one lane."""
    count = 0
    for y in range(len(values)):
        count += values[y] >= lowest
    return count > 0


@compiled
def tie_probabilities(values: Array, random: bool) -> Array:
    """Probability of each response under ties: split among the maxima, or all on the first.

    NaN if any value is not finite.
    """
    tied = maxima(values, random)
    probabilities = np.full(len(values), 0.0 if len(tied) else np.nan)
    for y in tied:
        probabilities[y] = 1.0 / len(tied)
    return probabilities
