"""g' A g for many responses, by the library of linear algebra (BLAS)."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.compiled import compiled

BLAS_FROM = 2**17
"""Products from which on the library is used. For fewer, a plain loop is about as quick."""

_BLOCK = 16  # columns; with a multiple of them, no result depends on the library's threads
_AT_ONCE = 2**19  # numbers of features in a product
_CUT_FROM, _ROWS = 64, 4  # from that size on, the matrix is cut into so many blocks of rows


class QuadraticForms:
    """Computes g' A g of every column g, in memory that it keeps.

    To allocate that memory anew each time would take longer than the product.
    """

    def __init__(self) -> None:
        self._memory: Array = np.empty((2, 0))

    def __call__(self, matrix: Array, columns: Array, f: Array) -> tuple[Array, Array]:
        """The quadratic form of a symmetric matrix, and f . g, for every column g."""
        dim, responses = columns.shape
        forms, products = np.zeros((2, responses))
        room = max(_AT_ONCE // dim // _BLOCK * _BLOCK, _BLOCK)
        for first in range(0, responses, room):
            count = min(room, responses - first)
            padded = -(-count // _BLOCK) * _BLOCK
            if dim * padded > self._memory.shape[1]:
                self._memory = np.empty((2, dim * padded))
            block, half = self._memory[:, : dim * padded].reshape(2, dim, padded)
            if padded == responses and columns.dtype == np.float64:
                block = columns
            else:
                block[:, :count] = columns[:, first : first + count]
                block[:, count:] = 0.0
            _multiply_upper(matrix, block, half)
            end = first + count
            _sum_products(half, block, f, forms[first:end], products[first:end])
        return forms, products


def _multiply_upper(matrix: Array, block: Array, half: Array) -> None:
    """U g for every column g, where g' U g = g' A g: the upper triangle of A, taken twice.

    The triangle is made of blocks. It has little more than half the products of A.
    """
    dim = len(matrix)
    if dim < _CUT_FROM:
        np.dot(matrix, block, out=half)
        return
    rows = -(-dim // _ROWS)
    for top in range(0, dim, rows):
        upper = 2.0 * matrix[top : top + rows, top:]
        upper[:, :rows] = matrix[top : top + rows, top : top + rows]
        np.dot(upper, block[top:], out=half[top : top + rows])


@compiled
def _sum_products(half: Array, block: Array, f: Array, forms: Array, products: Array) -> None:
    """Sum along the columns; rounding makes no form negative."""
    for i in range(len(half)):
        one, other, factor = half[i], block[i], f[i]
        for y in range(len(forms)):
            forms[y] += one[y] * other[y]
            products[y] += factor * other[y]
    for y in range(len(forms)):
        forms[y] = max(forms[y], 0.0)
