"""The compiled part of ``MixtureByAdam``: steps of Adam on theta.

An *entry* is a distinct pair of description and features with its count (``Counts``).
"""

from __future__ import annotations

import math

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled, compiled_freely
from tellback.models.counts import FOLLOWING, INSTRUCTION, NONE
from tellback.models.training import EPSILON, FIRST_DECAY, SECOND_DECAY
from tellback.models.vectors import (
    Vector,
    highest_of,
    load,
    load_spread,
    power_of_two,
    spread,
    store,
    total,
)

EIGHT = 8
"""Numbers in a vector."""

_ROWS = 32  # worked on together: loops as long as a row are too short for vectors
_FEW = 64  # instructions; each then has many entries

History = tuple[Indices, Indices, Array, Array]
"""The newest entry of each instruction and the links of all, their features in rows of whole
vectors, and their counts."""


@compiled_freely
def climb(
    fitted: tuple[Array, Array, Array, Array],
    history: History,
    learning_rate: float,
    done: int,
    steps: int,
) -> None:
    """Take steps of Adam after those that were done, and set F to the softmax of theta."""
    theta, first, second, f = fitted
    dim = theta.shape[1]
    some = min(_ROWS, len(theta)) * dim
    room = np.empty(f.size + EIGHT)
    slopes = room[: f.size].reshape(f.shape)
    at, m, v, chances, slope = (
        theta.reshape(-1),
        first.reshape(-1),
        second.reshape(-1),
        f.reshape(-1),
        slopes.reshape(-1),
    )
    begins, columns, often = _grouped(history, len(f) if len(f) <= _FEW else 0, dim)
    for step in range(done + 1, done + steps + 1):
        if len(f) <= _FEW:
            _weigh_grouped(f, begins, columns, often, slopes)
        else:
            room[:] = 0.0
            _weigh(f, history, slopes)
        means = np.zeros(some)
        for begin in range(0, len(at), some):
            p, s = chances[begin : begin + some], slope[begin : begin + some]
            for i in range(len(p)):
                means[i] += p[i] * s[i]
        for i in range(dim, some):
            means[i % dim] += means[i]
        for i in range(dim, some):
            means[i] = means[i - dim]
        rate = learning_rate / (1 - FIRST_DECAY**step)
        scale = 1 / np.sqrt(1 - SECOND_DECAY**step)
        for begin in range(0, len(at), some):
            p, s = chances[begin : begin + some], slope[begin : begin + some]
            a, b, c = (
                at[begin : begin + some],
                m[begin : begin + some],
                v[begin : begin + some],
            )
            for i in range(len(p)):
                g = p[i] * (s[i] - means[i])
                b[i] = FIRST_DECAY * b[i] + (1 - FIRST_DECAY) * g
                c[i] = SECOND_DECAY * c[i] + (1 - SECOND_DECAY) * g * g
                a[i] -= rate * b[i] / (np.sqrt(c[i]) * scale + EPSILON)
        _softmax(at, chances, dim, some)
    if not steps:
        _softmax(at, chances, dim, some)


@compiled
def _weigh(f: Array, history: History, slopes: Array) -> None:
    """The derivative of minus the mean log-likelihood by F.

    The features of an entry fill whole vectors: they end with zeros, where F and its slopes go on
    with the next row.
    """
    _, links, features, counts = history
    described = 0.0
    for entry in range(len(counts)):
        described += counts[entry]
    for entry in range(len(counts)):
        x, sums = links[entry, INSTRUCTION], spread(0.0)
        for i in range(0, features.shape[1], EIGHT):
            sums = sums + load(f, x, i) * load(features, entry, i)
        weight = spread(-counts[entry] / (described * total(sums)))
        for i in range(0, features.shape[1], EIGHT):
            store(slopes, x, i, load(slopes, x, i) + weight * load(features, entry, i))


@compiled
def _grouped(history: History, instructions: int, dim: int) -> tuple[Indices, Array, Array]:
    """The entries, those of an instruction side by side in whole vectors: begins, features, counts.

    What fills the vectors counts for nothing.
    """
    first, links, features, counts = history
    begins = np.zeros(instructions + 1, dtype=np.int64)
    most = len(counts) + instructions * (EIGHT - 1) if instructions else 0
    columns, often = np.full((dim, most), 1.0), np.zeros((1, most))
    for x in range(instructions):
        entry, at = first[x], begins[x]
        while entry != NONE:
            for i in range(dim):
                columns[i, at] = features[entry, i]
            often[0, at] = counts[entry]
            entry, at = links[entry, FOLLOWING], at + 1
        begins[x + 1] = (at + EIGHT - 1) // EIGHT * EIGHT
    return begins, columns, often


@compiled
def _weigh_grouped(f: Array, begins: Indices, columns: Array, often: Array, slopes: Array) -> None:
    """The same for few instructions, each with many entries: eight entries at a time."""
    described, weights = 0.0, np.empty(often.shape)
    for at in range(begins[-1]):
        described += often[0, at]
    for x in range(len(f)):
        for at in range(begins[x], begins[x + 1], EIGHT):
            p = spread(0.0)
            for i in range(len(columns)):
                p = p + load_spread(f, x, i) * load(columns, i, at)
            store(weights, 0, at, load(often, 0, at) / (spread(-described) * p))
        for i in range(len(columns)):
            sums = spread(0.0)
            for at in range(begins[x], begins[x + 1], EIGHT):
                sums = sums + load(weights, 0, at) * load(columns, i, at)
            slopes[x, i] = total(sums)


@compiled_freely
def _softmax(theta: Array, f: Array, dim: int, some: int) -> None:
    """F from theta: each column sums to 1."""
    highest, sums = np.full(some, -np.inf), np.zeros(some)
    for begin in range(0, len(theta), some):
        a = theta[begin : begin + some]
        for i in range(len(a)):
            highest[i] = a[i] if a[i] > highest[i] else highest[i]
    for i in range(dim, some):
        highest[i % dim] = max(highest[i % dim], highest[i])
    for i in range(dim, some):
        highest[i] = highest[i - dim]
    for begin in range(0, len(theta), some):
        a, p = theta[begin : begin + some], f[begin : begin + some]
        for i in range(len(a)):
            p[i] = a[i] - highest[i]
    _exponentials(f)
    for begin in range(0, len(f), some):
        p = f[begin : begin + some]
        for i in range(len(p)):
            sums[i] += p[i]
    for i in range(dim, some):
        sums[i % dim] += sums[i]
    for i in range(some):
        sums[i] = 1 / sums[i] if i < dim else sums[i - dim]
    for begin in range(0, len(f), some):
        p = f[begin : begin + some]
        for i in range(len(p)):
            p[i] *= sums[i]


@compiled
def _exponentials(x: Array) -> None:
    """Replace numbers of 0 or less by their exponentials."""
    row, last = x.reshape((1, -1)), np.zeros((1, EIGHT))
    whole = len(x) - len(x) % EIGHT
    for i in range(0, whole, EIGHT):
        store(row, 0, i, _exponential(load(row, 0, i)))
    for i in range(whole, len(x)):
        last[0, i - whole] = x[i]
    store(last, 0, 0, _exponential(load(last, 0, 0)))
    for i in range(whole, len(x)):
        x[i] = last[0, i - whole]


_ROUNDING = 1.5 * 2**52  # added to a number, it leaves a whole one in the lowest bits
_LN2 = 0.693147180369123816490, 1.90821492927058770002e-10  # in two parts, the first one short
_SERIES = np.array([[1.0 / math.factorial(n) for n in range(13, -1, -1)]])


@compiled
def _exponential(x: Vector) -> Vector:
    """exp(x) of numbers that are 0 or less: a power of two times a series."""
    value = highest_of(x, spread(-708.0))
    shifted = value * spread(1.4426950408889634) + spread(_ROUNDING)
    whole = shifted - spread(_ROUNDING)
    r = value - whole * spread(_LN2[0]) - whole * spread(_LN2[1])
    series = load_spread(_SERIES, 0, 0)
    for n in range(1, 14):
        series = series * r + load_spread(_SERIES, 0, n)
    return series * power_of_two(shifted)
