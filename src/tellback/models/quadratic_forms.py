"""g' A g for many responses."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.compiled import compiled, compiled_for_threads
from tellback.models.register_sums import LANES, ROWS, add_forms, add_fused_forms
from tellback.models.threads import in_threads

FUSED_FROM = 2**17
"""Products from which on each is added without being rounded first, where the processor can."""

_CUT_FROM, _PARTS = 64, 4  # so many fused features are cut into parts: one triangle of these

THREADS_FROM = 2**22
"""Products from which on a thread is worth its start."""


def quadratic_forms_in_threads(matrix: Array, columns: Array) -> Array:
    """The same bits as ``quadratic_forms``, by several threads if there are many products."""
    dim, responses = columns.shape
    blocks = -(-responses // LANES)
    forms = np.zeros(blocks * LANES)
    least = THREADS_FROM // (dim * dim * LANES) + 1
    in_threads(_add_forms, blocks, (matrix, columns, forms), least)
    return forms[:responses]


@compiled
def quadratic_forms(matrix: Array, columns: Array) -> Array:
    """g' A g of every column g, for a symmetric matrix A; rounding makes none negative."""
    blocks = -(-columns.shape[1] // LANES)
    forms = np.zeros(blocks * LANES)
    _add_forms(matrix, columns, forms, 0, blocks)
    return forms[: columns.shape[1]]


@compiled_for_threads
def _add_forms(matrix: Array, columns: Array, forms: Array, begin: int, end: int) -> None:
    """Add the forms of some blocks of ``LANES`` columns, whose sums stay in registers.

    How they are rounded depends on the numbers of features and responses alone.
    """
    dim, responses = columns.shape
    fused = dim * dim * responses >= FUSED_FROM
    rows = -(-dim // ROWS) * ROWS
    part = -(-dim // _PARTS) if fused and dim >= _CUT_FROM else dim
    upper, block = np.zeros((rows, dim)), np.zeros((rows, LANES))
    for i in range(dim):
        row, own = matrix[i], upper[i]
        for j in range(dim):
            own[j] = row[j]
        for j in range(i - i % part):  # left of the diagonal part
            own[j] = 0.0
        for j in range(i - i % part + part, dim):  # right of it: for their mirrors, too
            own[j] *= 2.0
    for at in range(begin * LANES, end * LANES, LANES):
        for i in range(dim):
            row, own = columns[i, at : at + LANES], block[i]
            for y in range(len(row)):
                own[y] = row[y]
        for i in range(0, rows, ROWS):
            if fused:
                add_fused_forms(block, upper, i, i - i % part, dim, forms, at)
            else:
                add_forms(block, upper, i, 0, dim, forms, at)
        for y in range(at, at + LANES):
            forms[y] = max(forms[y], 0.0)
