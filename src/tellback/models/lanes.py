"""Vectorised kernels in single precision, for many columns (*lanes*) at once.

The loops over lanes run on the vector units of the processor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tellback.compiled import compiled, compiled_freely

Floats = NDArray[np.float32]
Positions = NDArray[np.uint64]  # unsigned: numba then adds no check for negative indices
Position = int | np.uint64
F, U = np.float32, np.uint64


@compiled
def exponential(x: Floats, scratch: Floats, n: Position) -> None:
    """Replace x[:n] by exp(x[:n]), in single precision: a power of two times a short series."""
    bits = scratch.view(np.int32)
    for b in range(n):
        value = min(max(x[b], F(-87.0)), F(88.0))
        # Adding 1.5 * 2^23 rounds to a whole number, stored in the lowest bits.
        whole = value * F(1.4426950408889634) + F(12582912.0)
        scratch[b] = whole
        whole = whole - F(12582912.0)
        r = value - whole * F(0.693359375) + whole * F(2.12194440e-4)  # ln 2, in two parts
        series = F(1 / 120) + r * (F(1 / 720) + r * F(1 / 5040))
        series = F(1 / 2) + r * (F(1 / 6) + r * (F(1 / 24) + r * series))
        x[b] = F(1.0) + r * (F(1.0) + r * series)
    for b in range(n):
        bits[b] = (bits[b] + 127) << 23
    for b in range(n):
        x[b] *= scratch[b]


@compiled_freely
def logistic_of_negative(x: Floats, scratch: Floats, n: Position) -> None:
    """Replace x[:n] by 1 / (1 + exp(x[:n]))."""
    exponential(x, scratch, n)
    for b in range(n):
        x[b] = F(1.0) / (F(1.0) + x[b])


@compiled_freely
def affine(
    w: Floats, x: Floats, at: Position, bias: Floats, out: Floats, out_at: Position, n: Position
) -> None:
    """out = w x + bias for n lanes, from ``at`` in x and from ``out_at`` in out."""
    rows, columns = w.shape
    for i in range(rows):
        for b in range(n):
            out[i, out_at + b] = bias[i]
        for j in range(0, columns - 3, 4):
            w0, w1, w2, w3 = w[i, j], w[i, j + 1], w[i, j + 2], w[i, j + 3]
            for b in range(n):
                out[i, out_at + b] += (
                    w0 * x[j, at + b]
                    + w1 * x[j + 1, at + b]
                    + w2 * x[j + 2, at + b]
                    + w3 * x[j + 3, at + b]
                )
        for j in range(columns - columns % 4, columns):
            w0 = w[i, j]
            for b in range(n):
                out[i, out_at + b] += w0 * x[j, at + b]


@compiled_freely
def add_transposed(w: Floats, y: Floats, at: Position, out: Floats, n: Position) -> None:
    """out += w' y for n lanes, from ``at`` in y."""
    rows, columns = w.shape
    for j in range(columns):
        for i in range(0, rows - 3, 4):
            w0, w1, w2, w3 = w[i, j], w[i + 1, j], w[i + 2, j], w[i + 3, j]
            for b in range(n):
                out[j, b] += (
                    w0 * y[i, at + b]
                    + w1 * y[i + 1, at + b]
                    + w2 * y[i + 2, at + b]
                    + w3 * y[i + 3, at + b]
                )
        for i in range(rows - rows % 4, rows):
            w0 = w[i, j]
            for b in range(n):
                out[j, b] += w0 * y[i, at + b]


@compiled_freely
def outer(y: Floats, x: Floats, n: Position, dw: Floats, dbias: Floats) -> None:
    """The gradient of the weights of an affine map over n lanes: y x' and the sum of y."""
    columns = x.shape[0]
    for i in range(y.shape[0]):
        sum0 = F(0.0)
        for b in range(n):
            sum0 += y[i, b]
        dbias[i] = sum0
        for j in range(0, columns - 1, 2):
            sum0, sum1 = F(0.0), F(0.0)
            for b in range(n):
                sum0 += y[i, b] * x[j, b]
                sum1 += y[i, b] * x[j + 1, b]
            dw[i, j], dw[i, j + 1] = sum0, sum1
        if columns % 2:
            sum0 = F(0.0)
            for b in range(n):
                sum0 += y[i, b] * x[columns - 1, b]
            dw[i, columns - 1] = sum0


@compiled_freely
def log_softmax_parts(logits: Floats) -> tuple[Floats, Floats]:
    """Replace logits by exp(logits - highest); returns the highest and the sums of each column."""
    vocabulary, total = logits.shape
    highest, scratch = logits[0].copy(), np.empty(total, dtype=np.float32)
    sums = np.zeros(total, dtype=np.float32)
    for v in range(1, vocabulary):
        for b in range(total):
            highest[b] = max(highest[b], logits[v, b])
    for v in range(vocabulary):
        row = logits[v]
        for b in range(total):
            row[b] -= highest[b]
        exponential(row, scratch, total)
        for b in range(total):
            sums[b] += row[b]
    return highest, sums
