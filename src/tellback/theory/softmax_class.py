"""The softmax class: F with columns that are distributions, of the paper's first experiment.

It is infinite, so that |F| says nothing. What the likelihood argument needs instead is how
many *brackets* cover it: functions u >= f, one for every f, whose columns have a mass of
1 + rho at most.
"""

from __future__ import annotations

import math

import numpy as np

from tellback.arrays import Array
from tellback.errors import real, whole

SOFTMAX_SPREAD = 1.0
"""||f(x) - f'(x)||^2 of two members is at most this times d: entries are from 0 to 1."""


def softmax_bound(dim: int) -> float:
    """B of Assumption 2: ||f(x)|| is at most sqrt(d), and ||g|| at most 1 on the simplex."""
    return math.sqrt(whole("dim", dim))


def bracketing_log_size(rounds: int, instructions: int, dim: int) -> float:
    """The logarithm of the number of brackets of width rho = 1 / rounds; stands for log |F|.

    Round every entry of F down to a multiple of rho / |X| and add one step: the column is
    covered with a mass of 1 + rho at most. Columns rounded down are vectors of |X| whole
    numbers with a sum of at most M = |X| rounds, of which there are (M + |X| choose |X|).
    Of the order d |X| log(rounds): what maximum likelihood costs by this argument. Ridge
    regression has a radius without it (``self_normalized_radius``).
    """
    x, d = whole("instructions", instructions), whole("dim", dim)
    steps = float(x * whole("rounds", rounds))
    return d * float(np.log1p(steps / np.arange(1, x + 1)).sum())


def softmax(z: Array, temperature: float, axis: int) -> Array:
    """exp(z / temperature), normalised along an axis."""
    z = z / real("temperature", temperature, above=0)
    weights = np.exp(z - z.max(axis=axis, keepdims=True))
    normalised: Array = weights / weights.sum(axis=axis, keepdims=True)
    return normalised


def softmax_class(
    size: int, instructions: int, dim: int, temperature: float, rng: np.random.Generator
) -> Array:
    """Some members, drawn as the paper draws F: an array of shape (size, instructions, dim)."""
    shape = whole("size", size), whole("instructions", instructions), whole("dim", dim)
    return softmax(rng.standard_normal(shape), temperature, axis=1)
