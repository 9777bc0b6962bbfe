"""Vectors in kernels do what NumPy does with the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from tellback.arrays import AnyArray
from tellback.compiled import compiled
from tellback.models.vectors import (
    highest_of,
    load,
    load_spread,
    lowest_of,
    power_of_two,
    spread,
    store,
    total,
)

KINDS = pytest.mark.parametrize("kind", [np.float32, np.float64])


def numbers(kind: Any, rows: int = 2) -> AnyArray:
    """Rows of two vectors and a few numbers more."""
    drawn: AnyArray = np.random.default_rng(3).standard_normal((rows, 128 // kind().nbytes + 3))
    return drawn.astype(kind)


@compiled
def _operate(a: AnyArray, lanes: int, out: AnyArray) -> None:
    for at in range(0, a.shape[1] - lanes + 1, lanes):
        x, y = load(a, 0, at), load(a, 1, at)
        store(out, 0, at, x + y)
        store(out, 1, at, x - y)
        store(out, 2, at, x * y)
        store(out, 3, at, x / y)
        store(out, 4, at, highest_of(x, y))
        store(out, 5, at, lowest_of(x, y))
        store(out, 6, at, spread(a[0, 1]))
        store(out, 7, at, load_spread(a, 1, 2))


@KINDS
def test_operations_are_those_of_numpy_and_end_with_the_last_whole_vector(kind: Any) -> None:
    a = numbers(kind)
    a[0, 4] = np.nan
    lanes, end = 64 // kind().nbytes, a.shape[1] - 3
    out = np.full((8, a.shape[1]), 7, dtype=kind)
    _operate(a, lanes, out)
    x, y = a[:, :end]
    higher, lower = np.where(x < y, y, x), np.where(x > y, y, x)
    expected = [x + y, x - y, x * y, x / y, higher, lower]
    expected += [np.full(end, a[0, 1]), np.full(end, a[1, 2])]
    np.testing.assert_array_equal(out[:, :end], expected)
    np.testing.assert_array_equal(out[:, end:], 7)


@compiled
def _fused(a: AnyArray, out: AnyArray) -> None:
    store(out, 0, 0, load(a, 0, 0) * load(a, 1, 0) + load(a, 2, 0))


def test_a_product_and_a_sum_are_rounded_once() -> None:
    a = np.repeat(np.array([[1 + 2.0**-12], [1 - 2.0**-12], [-1.0]]), 16, axis=1)
    out = np.empty((1, 16), dtype=np.float32)
    _fused(a.astype(np.float32), out)
    np.testing.assert_array_equal(out, np.float32(-(2.0**-24)))  # twice rounded, it would be 0


@compiled
def _total(a: AnyArray) -> float:
    return total(load(a, 0, 0))  # type: ignore[no-any-return]


@KINDS
def test_the_total_is_the_sum_of_all_lanes(kind: Any) -> None:
    lanes = 64 // kind().nbytes
    assert _total(2.0 ** np.arange(lanes, dtype=kind)[np.newaxis]) == 2**lanes - 1


@compiled
def _powers(a: AnyArray, rounding: Any, out: AnyArray) -> None:
    store(out, 0, 0, power_of_two(load(a, 0, 0) + spread(rounding)))


@KINDS
def test_powers_of_two_are_exact(kind: Any) -> None:
    lanes, digits = 64 // kind().nbytes, np.finfo(kind).nmant
    exponents = np.linspace(-120, 120, lanes).round().astype(kind)[np.newaxis]
    out = np.empty_like(exponents)
    _powers(exponents, kind(1.5 * 2.0**digits), out)
    np.testing.assert_array_equal(out, 2.0**exponents)


def test_rows_that_are_not_consecutive_are_refused() -> None:
    with pytest.raises(TypingError, match="rows are consecutive"):
        _total(np.zeros((16, 16)).T)
