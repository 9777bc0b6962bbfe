"""Maximum likelihood of a mixture on all descriptions: objective, certificate, EM steps.

Functions of the counted descriptions and of F. The objective is the log-likelihood plus
``smoothing`` times log F, summed over all of F (a Dirichlet prior). It is concave over a product
of simplices, which gives a certificate: an upper bound on the distance to its maximum.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.models.counts import Counts


def objective(counts: Counts, f: Array, smoothing: float) -> float:
    """The log-likelihood, plus the log-prior of F if there is smoothing."""
    prior = smoothing * float(np.log(f).sum()) if smoothing else 0.0
    return counts.log_likelihood(f) + prior


def certified_gap(counts: Counts, f: Array, smoothing: float) -> float:
    """An upper bound on how much higher the objective of any other F is (Frank-Wolfe gap).

    With D the gradient and n the number of descriptions, it is sum_i max_x D[x, i] - n. With
    smoothing, n includes the descriptions that the prior stands for.
    """
    if not counts.size:
        return 0.0
    n, slope = float(int(counts.counts.sum())), gradient(counts, f)
    if smoothing:
        n += smoothing * f.size
        slope += smoothing / f
    return max(0.0, float(slope.max(axis=0).sum() - n))


def gradient(counts: Counts, f: Array) -> Array:
    """The derivative of the log-likelihood: D[x, i] = sum of n g_i / (f(x) . g)."""
    weights = (counts.counts / counts.probabilities(f))[:, None] * counts.features
    slope = np.zeros_like(f)
    np.add.at(slope, counts.rows, weights)
    return slope


def responsibilities(counts: Counts, f: Array) -> Array:
    """The expected number of times that each component produced each entry (E-step)."""
    expected: Array = f[counts.rows] * counts.features
    expected *= (counts.counts / expected.sum(axis=1))[:, None]
    return expected


def extrapolated(start: Array, first: Array, second: Array) -> Array | None:
    """An F further along the direction of two EM steps; None if they have no direction.

    The step length of SQUAREM (Varadhan and Roland 2008).
    """
    step = first - start
    bend = (second - first) - step
    length = np.linalg.norm(bend)
    if length == 0:
        return None
    alpha = -max(1.0, float(np.linalg.norm(step) / length))
    far = start - 2 * alpha * step + alpha**2 * bend
    # EM never leaves 0: stay inside, near the edge.
    far = np.where(second > 0, np.maximum(far, 1e-3 * second), 0.0)
    mass = far.sum(axis=0)
    return np.where(mass > 0, far / np.where(mass > 0, mass, 1), second)
