"""Sizes and distributions to try the bounds with."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

SEEDS = st.integers(0, 2**32 - 1)
DELTAS = st.floats(1e-12, 0.999)
LOG_SIZES = st.floats(0, 1e4)
LENGTHS = st.floats(1e-2, 1e2)
RIDGES = st.floats(1e-6, 1e3)
ALMOST_ONE = 1 + 1e-9
"""For sums of many floating-point numbers."""


def magnitudes(lowest: float, highest: float) -> st.SearchStrategy[int]:
    """Whole numbers, every power of 10 as likely as any other."""
    return st.floats(lowest, highest).map(lambda power: int(10**power))


def never_more_often(count: int, runs: int, delta: float) -> bool:
    """Whether an event of probability delta happens so often: by chance once in a million."""
    return count <= int(stats.binom.ppf(1 - 1e-6, runs, delta))


def uneven_distributions(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Along the last axis, from nearly uniform to nearly (or quite) degenerate."""
    spread = 10.0 ** rng.uniform(-3, 2)
    weights = rng.gamma(spread, size=shape) + 1e-300
    distributions: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return distributions


def apart(p: Floats, q: Floats) -> Floats:
    """The distance in total variation, along the last axis."""
    distance: Floats = np.abs(p - q).sum(axis=-1) / 2
    return distance


KINDS = ["in turn", "greedy", "one", "random"]


def sequence(kind: str, rng: np.random.Generator, rounds: int, dim: int, lam: float) -> Floats:
    """Vectors of a length of 1 at most."""
    if kind == "in turn":
        return in_turn(rounds, dim)
    if kind == "greedy":
        return greedy(rng, rounds, dim, lam)
    if kind == "one":
        return in_turn(1, dim).repeat(rounds, axis=0)
    vectors = rng.standard_normal((rounds, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= rng.random((rounds, 1))
    return vectors


def widths_of(vectors: Floats, ridges: Floats) -> Floats:
    """||v_t|| in the norm of the inverse of lambda_t I + the sum of the v v' before."""
    gram = np.zeros((vectors.shape[1], vectors.shape[1]))
    widths = []
    for v, lam in zip(vectors, ridges, strict=True):
        widths.append(math.sqrt(v @ np.linalg.solve(gram + lam * np.eye(len(v)), v)))
        gram += np.outer(v, v)
    return np.array(widths)


def in_turn(rounds: int, dim: int) -> Floats:
    return np.eye(dim)[np.arange(rounds) % dim]


def greedy(rng: np.random.Generator, rounds: int, dim: int, lam: float) -> Floats:
    """Always the widest of a pool, which is what optimism does where estimates are equal."""
    pool = rng.standard_normal((20, dim))
    pool /= np.linalg.norm(pool, axis=1, keepdims=True)
    sigma = lam * np.eye(dim)
    chosen = []
    for _ in range(rounds):
        widest = int(np.einsum("kd,dk->k", pool, np.linalg.solve(sigma, pool.T)).argmax())
        chosen.append(pool[widest])
        sigma += np.outer(pool[widest], pool[widest])
    return np.array(chosen)
