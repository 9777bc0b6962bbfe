"""The responses that are possible in a task, with their features g(y, s)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tellback.arrays import Array
from tellback.errors import SettingError

SIMPLEX_TOLERANCE = 1e-6
"""How far the features of a response may sum from 1 and still count as a distribution."""


class Listed:
    """Responses that can be listed: response ``y`` is row ``y`` of a matrix.

    Give the *same object* in every round whose responses are the same: agents recognise it
    and keep what they have computed for it. It cannot be changed.

    Parameters
    ----------
    features : array_like of shape (responses, dimension)
        g(y, s) for every response y. Finite real numbers.

    Attributes
    ----------
    matrix : Array
        The features, a row a response.
    columns : Array
        The same memory seen the other way: along all the responses at once.

    Examples
    --------
    >>> responses = Listed([[1.0, 0.0], [0.25, 0.75]])
    >>> len(responses), responses.dim
    (2, 2)
    >>> responses.features(1)
    array([0.25, 0.75])
    """

    __slots__ = ("__weakref__", "_length", "_off_simplex", "_row", "columns", "dim", "matrix")

    matrix: Array
    columns: Array
    dim: int
    _length: int
    _row: Callable[[int], Array]
    _off_simplex: str | None

    def __init__(self, features: ArrayLike) -> None:
        matrix = _checked(features)
        frozen = _frozen(matrix.ravel(order="F")).reshape(matrix.shape, order="F")
        set_field = super().__setattr__
        set_field("matrix", frozen)
        set_field("columns", frozen.T)
        set_field("dim", int(matrix.shape[1]))
        set_field("_length", int(matrix.shape[0]))
        set_field("_row", _rows(frozen))
        set_field("_off_simplex", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Responses cannot be changed: {name} is fixed.")

    def __reduce__(self) -> tuple[type[Listed], tuple[Array]]:
        return Listed, (self.matrix,)

    def __len__(self) -> int:
        return self._length

    def __contains__(self, response: object) -> bool:
        if type(response) is not int and not isinstance(response, np.integer):
            return False
        return bool(0 <= response < self._length)

    def __repr__(self) -> str:
        return f"Listed({len(self)} responses, {self.dim} features each)"

    def features(self, response: int) -> Array:
        """g(y, s) of one response, read-only."""
        return self._row(response)

    @property
    def off_simplex(self) -> str:
        """Why the features are not distributions over the components, or ''."""
        if self._off_simplex is None:
            super().__setattr__("_off_simplex", _off_simplex(self.matrix))
        return self._off_simplex or ""


def _checked(features: ArrayLike) -> Array:
    try:
        matrix = np.array(features, dtype=np.float64)
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
    return matrix


def _frozen(values: Array) -> Array:
    """A copy over immutable bytes, which nobody who is given it can make writable."""
    return np.frombuffer(values.tobytes())


def _rows(matrix: Array) -> Callable[[int], Array]:
    """Look up rows of a matrix; each is copied once, as a response is mostly chosen many times.

    The cache is no attribute: agents and truth have the same responses, and a row that an agent
    put into the cache would be a row for the truth, too.
    """
    cached: dict[int, Array] = {}

    def row(response: Any) -> Array:
        found = cached.get(response)
        if found is None:
            y = np.generic.item(response) if isinstance(response, np.integer) else response
            if type(y) is not int or not 0 <= y < len(matrix):
                raise SettingError(
                    f"A response must be a whole number from 0 to {len(matrix) - 1}, "
                    f"not {response!r}."
                )
            found = cached[y] = _frozen(matrix[y])  # under a plain number, which equals no other
        return found

    return row


def _off_simplex(matrix: Array) -> str:
    lowest = matrix.min(axis=1)
    sums = matrix.sum(axis=1)
    wrong = np.flatnonzero((lowest < 0) | (np.abs(sums - 1) > SIMPLEX_TOLERANCE))
    if not len(wrong):
        return ""
    y = wrong[0]
    return f"the features of response {y} sum to {sums[y]:g}, the lowest being {lowest[y]:g}"
