"""The one rule for ties: which of some values count as equally high."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import one_of

TIES = ("first", "random")
"""How to choose among equally good responses: the first listed, or one at random."""

Ties = Annotated[str, partial(one_of, options=TIES)]
"""A setting that is one of them."""

TOLERANCE = 1e-9
"""Values that differ by less than this, relatively, are equal: the rest is rounding.

Estimates that are equal in exact arithmetic drift apart by some 1e-12 in 10,000 rounds.
"""


@compiled
def maxima(values: Array, random: bool) -> Indices:
    """Where the highest values are: all that tie, or the first of them only.

    Empty if any value is not finite.
    """
    highest, total = values[0], 0.0
    for value in values:
        highest = value if value > highest else highest
        total += value
    tied = np.empty(len(values), np.int64)
    count = 0
    if np.isfinite(total):
        lowest = highest - TOLERANCE * abs(highest)
        for y in range(len(values)):
            if values[y] >= lowest and (random or not count):
                tied[count] = y
                count += 1
    return tied[:count]


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
