"""Theorem 2: the most regret that Algorithm 1 can have, with explicit constants."""

from __future__ import annotations

import math
from collections.abc import Callable

from tellback.errors import SettingError, real, whole
from tellback.theory.potential import clipped_potential_bound, most_log_det
from tellback.theory.radius import (
    freedman_constant,
    repaired_radius,
    self_normalized_radius,
    softmax_radius,
)

FARTHEST = 2**200
"""Rounds beyond which nobody asks whether a bound says anything."""


def printed_regret_bound(
    rounds: int, dim: int, B: float, log_class_size: float, delta: float
) -> float:
    """The last line of the paper's proof, before its constants go.

    8 ((2C)^(1/4) sqrt(log(T |F| / delta)) + B) sqrt(T d log(1 + T B)). It is for the radius
    of the appendix; in that of Algorithm 1, B counts (2C)^(1/4) times as much. The proof sums
    widths by ``printed_potential_bound``, which is false, but with widths clipped at 1 the
    same line follows, if |F| is at least 2.
    """
    constant = math.sqrt(math.sqrt(2 * freedman_constant(log_class_size, delta)))
    logarithm = math.log(whole("rounds", rounds)) + log_class_size - math.log(delta)
    sizes = rounds * whole("dim", dim) * math.log1p(rounds * real("B", B, above=0))
    return 8 * (constant * math.sqrt(logarithm) + B) * math.sqrt(sizes)


def repaired_regret_bound(
    rounds: int, dim: int, B: float, log_class_size: float, delta: float
) -> float:
    """The same theorem with the repaired radius, and widths clipped at 1.

    A round costs min(1, 2 r_t w_t) at most, r_t being the radius and w_t the width. With
    r_t^2 = a + 4 B^2 / t and a = 2 log(|F| / delta), Cauchy and Schwarz give
    2 sqrt(sum of r_t^2) sqrt(sum of min(1, w_t^2)) unless 2 r_t < 1, which needs a class of
    one and a delta near 1; there a is taken to be 1/4. The sum of 1/t is at most 1 + log T.
    """
    rounds = whole("rounds", rounds)
    known = max(repaired_radius(0.0, log_class_size, delta, B), 0.5) ** 2
    radii = known + 4 * B**2 * (1 + math.log(rounds)) / rounds
    widths = clipped_potential_bound(rounds, dim, 1 / rounds, B)
    return 2 * math.sqrt(radii) * widths


def softmax_regret_bound(rounds: int, instructions: int, dim: int, delta: float) -> float:
    """Theorem 2 for the whole softmax class, which is what the paper's experiment uses.

    The largest radius there was, which is that of the last round or of the end of an epoch.
    """
    rounds = whole("rounds", rounds)
    moments = {rounds, *(2**epoch for epoch in range(rounds.bit_length()))}
    radius = max(softmax_radius(t, 1.0, instructions, dim, delta) for t in moments)
    return 2 * radius * clipped_potential_bound(rounds, dim, 1 / rounds, 1.0)


def self_normalized_regret_bound(
    rounds: int,
    instructions: int,
    dim: int,
    delta: float,
    B: float,
    lam: float | None = None,
    length: float = 1.0,
) -> float:
    """Theorem 2 for optimism around the ridge estimate, whatever the class.

    A round costs min(1, 2 r_t w_t) at most. The radius only grows, so that the last one, with
    log det(Sigma / lambda) as large as it can be, serves all; widths are clipped at 1. Of the
    order of d sqrt(T) log(T), plus sqrt(d T log(|X| / delta) log(T)).

    Parameters
    ----------
    rounds, instructions, dim : int
        T, |X| and d.
    delta : float
        The probability with which it may fail.
    B : float
        No f*(x) is longer.
    lam : float or None
        lambda. None stands for 1 / B^2, with which the ridge adds 1 to the radius: it is known
        beforehand, and not chosen by T.
    length : float
        No g(y, s) is longer; on the simplex none is longer than 1.
    """
    lam = 1 / real("B", B, above=0) ** 2 if lam is None else lam
    log_det = most_log_det(rounds, dim, lam, length)
    radius = self_normalized_radius(log_det, lam, instructions, delta, B)
    return max(1.0, 2 * radius) * clipped_potential_bound(rounds, dim, lam, length)


def meaningful_from(bound: Callable[[int], float]) -> int:
    """The first number of rounds T from which on a bound is below T, so that it says anything.

    A bound can be below T at first, then above, and below for good: for small B, and where
    an epoch of ``softmax_radius`` begins. So the last power of 2, or its successor, at which
    the bound says nothing is found first. From there to the next, bound(T) / T must fall.
    """
    if bound(FARTHEST) >= FARTHEST:
        raise SettingError(f"The bound is not below T at any T up to {FARTHEST:.3g}.")
    low, high = 0, FARTHEST  # says nothing, says something
    for power in reversed(range(FARTHEST.bit_length() - 1)):
        for mark in (2**power + 1, 2**power):
            if bound(mark) >= mark:
                low = mark
                break
            high = mark
        if low:
            break
    while high - low > 1:
        middle = (low + high) // 2
        if bound(middle) < middle:
            high = middle
        else:
            low = middle
    return high
