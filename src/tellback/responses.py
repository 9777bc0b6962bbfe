"""The responses that are possible in a task, with their features g(y, s)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tellback.arrays import Array
from tellback.errors import SettingError

SIMPLEX_TOLERANCE = 1e-6
"""How far the features of a response may sum from 1 and still count as a distribution."""


class Listed:
    """Responses that can be listed: response ``y`` is row ``y`` of a matrix.

    Give the *same object* in every round whose responses are the same: agents recognise it
    and keep what they have computed for it.

    Parameters
    ----------
    features : array_like of shape (responses, dimension)
        g(y, s) for every response y. Finite real numbers.

    Examples
    --------
    >>> responses = Listed([[1.0, 0.0], [0.25, 0.75]])
    >>> len(responses), responses.dim
    (2, 2)
    >>> responses.features(1)
    array([0.25, 0.75])
    """

    def __init__(self, features: ArrayLike) -> None:
        # One column after the other in memory, so that a kernel can run along all the
        # responses at once; ``columns`` is then the same memory, seen row by row.
        try:
            matrix = np.array(features, dtype=np.float64, order="F")
        except (TypeError, ValueError) as error:
            raise SettingError(f"features must be a matrix of real numbers: {error}.") from error
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise SettingError(
                "features must be a matrix with a row for each response and at least one "
                f"column, not an array of shape {matrix.shape}."
            )
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            raise SettingError(
                f"features must be finite: response {row} has {matrix[row, column]} "
                f"at position {column}."
            )
        # Over immutable bytes, so that nobody who is given the features can change them.
        frozen: Array = np.frombuffer(matrix.tobytes(order="F"))
        self.matrix: Array = frozen.reshape(matrix.shape, order="F")
        self.columns: Array = self.matrix.T
        self._length = int(matrix.shape[0])
        self._rows: dict[int, Array] = {}  # a response is mostly chosen many times

    def __len__(self) -> int:
        return self._length

    def __contains__(self, response: object) -> bool:
        if type(response) is not int and not isinstance(response, np.integer):
            return False
        return bool(0 <= response < self._length)

    def __repr__(self) -> str:
        return f"Listed({len(self)} responses, {self.dim} features each)"

    @property
    def dim(self) -> int:
        """The size of g(y, s)."""
        return int(self.matrix.shape[1])

    def features(self, response: int) -> Array:
        """g(y, s) of one response, read-only."""
        row = self._rows.get(response)
        if row is None:
            row = self.matrix[response].copy()
            row.flags.writeable = False
            self._rows[response] = row
        return row

    @cached_property
    def off_simplex(self) -> str:
        """Why the features are not distributions over the components, or ''."""
        lowest = self.matrix.min(axis=1)
        sums = self.matrix.sum(axis=1)
        wrong = np.flatnonzero((lowest < 0) | (np.abs(sums - 1) > SIMPLEX_TOLERANCE))
        if not len(wrong):
            return ""
        y = wrong[0]
        return f"the features of response {y} sum to {sums[y]:g}, the lowest being {lowest[y]:g}"
