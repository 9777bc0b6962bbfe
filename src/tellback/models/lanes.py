"""Kernels in single precision for many columns (*lanes*) at once, a vector of them at a time.

Every row of an array has room for whole vectors. What lies in the lanes beyond the last column is
computed too, and must not matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tellback.compiled import compiled
from tellback.models.vectors import (
    LANES,
    Vector,
    highest_of,
    load,
    load_spread,
    lowest_of,
    power_of_two,
    spread,
    store,
    total,
)

Floats = NDArray[np.float32]
F = np.float32
ROUNDING = F(1.5 * 2**23)
"""Added to a number, it leaves a whole one in the lowest bits."""


@compiled
def whole_vectors(n: int) -> int:
    """Lanes of the vectors that n columns need."""
    return (n + LANES - 1) // LANES * LANES


@compiled
def exponential(x: Vector) -> Vector:
    """exp(x) in single precision: a power of two times a short series."""
    value = lowest_of(highest_of(x, spread(F(-87.0))), spread(F(88.0)))
    shifted = value * spread(F(1.4426950408889634)) + spread(ROUNDING)
    whole = shifted - spread(ROUNDING)
    # ln 2, in two parts
    r = value - whole * spread(F(0.693359375)) + whole * spread(F(2.12194440e-4))
    series = spread(F(1 / 720)) + r * spread(F(1 / 5040))
    series = spread(F(1 / 120)) + r * series
    series = spread(F(1 / 24)) + r * series
    series = spread(F(1 / 6)) + r * series
    series = spread(F(1 / 2)) + r * series
    one = spread(F(1.0))
    return (one + r * (one + r * series)) * power_of_two(shifted)


@compiled
def logistic(x: Vector) -> Vector:
    """1 / (1 + exp(-x))."""
    one = spread(F(1.0))
    return one / (one + exponential(spread(F(-1.0)) * x))


@compiled
def tanh(x: Vector) -> Vector:
    """The hyperbolic tangent: 2 / (1 + exp(-2 x)) - 1."""
    two, one = spread(F(2.0)), spread(F(1.0))
    return two / (one + exponential(spread(F(-2.0)) * x)) - one


@compiled
def affine(w: Floats, x: Floats, at: int, bias: Floats, out: Floats, out_at: int, n: int) -> None:
    """out = w x + bias for n lanes, from ``at`` in x and from ``out_at`` in out."""
    for i in range(len(bias)):
        for b in range(0, n, LANES):
            store(out, i, out_at + b, spread(bias[i]))
    add_product(w, x, at, out, out_at, n)


@compiled
def add_product(w: Floats, x: Floats, at: int, out: Floats, out_at: int, n: int) -> None:
    """out += w x for n lanes, from ``at`` in x and from ``out_at`` in out.

    Five rows at a time: a sum takes longer than it takes to begin the next one.
    """
    rows, columns = w.shape
    five = rows - rows % 5
    for b in range(0, n, LANES):
        there = out_at + b
        for i in range(0, five, 5):
            sum0, sum1 = load(out, i, there), load(out, i + 1, there)
            sum2, sum3 = load(out, i + 2, there), load(out, i + 3, there)
            sum4 = load(out, i + 4, there)
            for j in range(columns):
                lanes = load(x, j, at + b)
                sum0 = sum0 + load_spread(w, i, j) * lanes
                sum1 = sum1 + load_spread(w, i + 1, j) * lanes
                sum2 = sum2 + load_spread(w, i + 2, j) * lanes
                sum3 = sum3 + load_spread(w, i + 3, j) * lanes
                sum4 = sum4 + load_spread(w, i + 4, j) * lanes
            store(out, i, there, sum0)
            store(out, i + 1, there, sum1)
            store(out, i + 2, there, sum2)
            store(out, i + 3, there, sum3)
            store(out, i + 4, there, sum4)
        for i in range(five, rows):
            sum0 = load(out, i, there)
            for j in range(columns):
                sum0 = sum0 + load_spread(w, i, j) * load(x, j, at + b)
            store(out, i, there, sum0)


@compiled
def outer(y: Floats, x: Floats, n: int, dw: Floats, dbias: Floats) -> None:
    """The gradient of the weights of an affine map over n lanes: y x' and the sum of y."""
    columns = len(x)
    five = columns - columns % 5
    for i in range(len(y)):
        sum0 = spread(F(0.0))
        for b in range(0, n, LANES):
            sum0 = sum0 + load(y, i, b)
        dbias[i] = total(sum0)
        for j in range(0, five, 5):
            sum0 = sum1 = sum2 = sum3 = sum4 = spread(F(0.0))
            for b in range(0, n, LANES):
                lanes = load(y, i, b)
                sum0 = sum0 + lanes * load(x, j, b)
                sum1 = sum1 + lanes * load(x, j + 1, b)
                sum2 = sum2 + lanes * load(x, j + 2, b)
                sum3 = sum3 + lanes * load(x, j + 3, b)
                sum4 = sum4 + lanes * load(x, j + 4, b)
            dw[i, j], dw[i, j + 1], dw[i, j + 2] = total(sum0), total(sum1), total(sum2)
            dw[i, j + 3], dw[i, j + 4] = total(sum3), total(sum4)
        for j in range(five, columns):
            sum0 = spread(F(0.0))
            for b in range(0, n, LANES):
                sum0 = sum0 + load(y, i, b) * load(x, j, b)
            dw[i, j] = total(sum0)


@compiled
def log_softmax_parts(logits: Floats) -> tuple[Floats, Floats]:
    """Replace logits by exp(logits - highest); returns the highest and the sums of each column."""
    vocabulary, n = logits.shape
    highest, sums = np.empty((1, n), dtype=np.float32), np.empty((1, n), dtype=np.float32)
    for b in range(0, n, LANES):
        top = load(logits, 0, b)
        for v in range(1, vocabulary):
            top = highest_of(top, load(logits, v, b))
        sum0 = spread(F(0.0))
        for v in range(vocabulary):
            exponent = exponential(load(logits, v, b) - top)
            sum0 = sum0 + exponent
            store(logits, v, b, exponent)
        store(highest, 0, b, top)
        store(sums, 0, b, sum0)
    return highest[0], sums[0]
