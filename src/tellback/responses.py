"""The responses that are possible in a task, with their features g(y, s).

``Listed`` where they can be enumerated. ``Sampled`` where there are too many, such as all paths
through a house: an agent draws some of them, its ``Shortlist``, and chooses among those.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from threading import local
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tellback.arrays import AnyArray, Array
from tellback.compiled import compiled, compiled_freely
from tellback.errors import SettingError

TILE = 2048
"""Responses that a kernel works on at a time: what it sums for them stays in the fastest cache."""

SIMPLEX_TOLERANCE = 1e-6
"""How far the features of a response may sum from 1 and still count as a distribution."""


class Listed:
    """Responses that can be listed: response ``y`` is row ``y`` of a matrix.

    Give the *same object* in every round whose responses are the same: agents recognise it
    and keep what they have computed for it. It cannot be changed.

    Parameters
    ----------
    features : array_like of shape (responses, dimension)
        g(y, s) for every response y. Finite real numbers. An array of ``numpy.float32`` is kept
        as such, in half the memory; what is computed from it has double precision.

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

    __slots__ = (
        "__weakref__",
        "_length",
        "_off_simplex",
        "_row",
        "_squares",
        "columns",
        "dim",
        "matrix",
    )

    matrix: Array
    columns: Array
    dim: int
    _length: int
    _row: Callable[[int], Array]
    _off_simplex: str | None
    _squares: float

    def __init__(self, features: ArrayLike) -> None:
        given = _matrix(features)
        flat, squares = _finite_columns(given)
        columns = flat.reshape(given.shape[::-1])
        matrix = columns.T
        set_field = super().__setattr__
        set_field("matrix", matrix)
        set_field("columns", columns)
        set_field("dim", given.shape[1])
        set_field("_length", given.shape[0])
        set_field("_row", _rows(matrix))
        set_field("_off_simplex", None)
        set_field("_squares", squares)

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

    def longer_than(self, squared: float) -> int | None:
        """The response with the longest features, if their squared length is above that."""
        if self._squares <= squared / 2:  # the sum of all, about: mostly no need to look at each
            return None
        longest, highest = _longest(self.columns)
        return None if highest <= squared else longest


class Shortlist(Listed):
    """Some of the responses of a task that has too many to list.

    Response ``i`` of the list stands for ``responses[i]`` of the task.

    Parameters
    ----------
    responses : sequence of hashable
        Responses of the task, each once.
    features : array_like of shape (responses, dimension)
        g(y, s) for each of them.

    Examples
    --------
    >>> Shortlist([("left", "left"), ("up",)], [[0.0], [1.0]]).place(("up",))
    1
    """

    __slots__ = ("_places", "responses")

    responses: tuple[Hashable, ...]
    _places: dict[Hashable, int]

    def __init__(self, responses: Sequence[Hashable], features: ArrayLike) -> None:
        super().__init__(features)
        places = {response: i for i, response in enumerate(responses)}
        if not len(places) == len(responses) == len(self):
            raise SettingError(
                f"A shortlist has each response once, with a row of features: here are "
                f"{len(responses)} responses, {len(places)} of them different, and {len(self)} "
                "rows."
            )
        set_field = object.__setattr__
        set_field(self, "responses", tuple(responses))
        set_field(self, "_places", places)

    def __reduce__(self) -> tuple[type[Shortlist], tuple[tuple[Hashable, ...], Array]]:  # type: ignore[override]
        return Shortlist, (self.responses, self.matrix)

    def __repr__(self) -> str:
        return f"Shortlist({len(self)} responses, {self.dim} features each)"

    def place(self, response: Hashable) -> int:
        """The number of a response in the list; an error if it is not there."""
        try:
            return self._places[response]
        except (KeyError, TypeError) as error:
            raise SettingError(f"{response!r} is not in the shortlist.") from error


class Sampled(ABC):
    """Responses that are too many to list.

    A response is plain, hashable data: a text, a number, or a tuple of such. Derive a class for
    the tasks of your world, and write three methods. As agents hold it, it must not refer to the
    truth, and must not change.

    Attributes
    ----------
    dim : int
        The size of g(y, s).
    """

    dim: int

    @abstractmethod
    def __contains__(self, response: object, /) -> bool:
        """Whether something is a response here; False for whatever is not."""

    @abstractmethod
    def matrix_of(self, responses: Sequence[Any]) -> Array:
        """g(y, s) of some responses, a row each."""

    @abstractmethod
    def draw(self, count: int, rng: np.random.Generator) -> Sequence[Any]:
        """So many responses, drawn without regard to any instruction; some may be equal."""

    def features(self, response: Any) -> Array:
        """g(y, s) of one response."""
        row: Array = np.asarray(self.matrix_of([response]), dtype=np.float64)[0]
        return row

    def shortlist(self, responses: Sequence[Any]) -> Shortlist:
        """Some of them as a list to choose from, each once, in the order of the first."""
        each = list(dict.fromkeys(responses))
        return Shortlist(each, self.matrix_of(each))

    def shortened(self, response: Any) -> Any:
        """A response with the same features and no detours: a better demonstration of these."""
        return response

    def grammar(self, name: str) -> Grammar:
        """How responses are made of steps of some kind; an error if there is no such kind."""
        raise SettingError(
            f"{type(self).__name__} has no grammar named {name!r}: its responses are drawn as a "
            "whole."
        )


class Grammar(Protocol):
    """How responses are made step by step.

    In each state some steps are possible, each with features phi. A step is drawn with
    probability proportional to exp(weights . phi): a log-linear policy, which is uniform where all
    weights are 0.

    Attributes
    ----------
    dim : int
        The size of phi.
    """

    dim: int

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> Sequence[Any]:
        """So many responses, drawn step by step; some may be equal."""

    def score(self, response: Any, weights: Array) -> Array | None:
        """The gradient of the log-probability of a response by the weights.

        That is the sum over its steps of phi, less the expected phi. None if the response cannot
        be drawn so.
        """


def _matrix(features: ArrayLike) -> Array:
    """The features as a matrix: the caller's own memory, if that is possible."""
    try:
        matrix: AnyArray = np.asarray(features)
        if matrix.dtype != np.float64 and matrix.dtype != np.float32:
            matrix = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError(f"features must be a matrix of real numbers: {error}.") from error
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise SettingError(
            "features must be a matrix with a row for each response and at least one "
            f"column, not an array of shape {matrix.shape}."
        )
    return matrix


def _finite_columns(matrix: Array) -> tuple[Array, float]:
    """The columns of a matrix, one after the other, and about the sum of their squares.

    They are over immutable bytes: nobody who is given them can make them writable. An error if a
    number is not finite.
    """
    if KERNEL_FROM <= matrix.size <= SCRATCH and matrix.flags.c_contiguous:
        scratch = _scratch(matrix)
        _transpose(matrix, scratch)
        frozen = scratch.tobytes()
    else:
        frozen = matrix.tobytes("F")
    columns = np.frombuffer(frozen, matrix.dtype)
    squares = _sum_of_squares(columns)
    if not math.isfinite(squares) and not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise SettingError(
            f"features must be finite: response {row} has {matrix[row, column]} "
            f"at position {column}."
        )
    return columns, squares


KERNEL_FROM, SCRATCH = 2**12, 2**20
"""Sizes of a matrix that a kernel transposes. NumPy is slower, and much slower where its memory is
new: so the kernel has memory that stays, 8 MiB at most."""

_kept = local()


def _scratch(matrix: Array) -> Array:
    """Memory of the size of a matrix, the same each time in a thread."""
    kept: Array | None = getattr(_kept, "scratch", None)
    if kept is None or len(kept) < matrix.nbytes:
        kept = _kept.scratch = np.empty(matrix.nbytes, np.uint8)
    return kept[: matrix.nbytes].view(matrix.dtype)


@compiled
def _transpose(matrix: Array, out: Array) -> None:
    """Write the columns of a matrix one after the other.

    Eight rows at a time: one cache line of each column is written.
    """
    responses, dim = matrix.shape
    columns = out.reshape(dim, responses)
    whole = responses - responses % 8
    for first in range(0, whole, 8):
        for i in range(dim):
            for y in range(8):
                columns[i, first + y] = matrix[first + y, i]
    for y in range(whole, responses):
        for i in range(dim):
            columns[i, y] = matrix[y, i]


@compiled_freely
def _sum_of_squares(values: Array) -> float:
    total = 0.0
    for n in range(len(values)):
        total += np.float64(values[n]) * np.float64(values[n])
    return total


@compiled
def _longest(columns: Array) -> tuple[int, float]:
    """The column with the largest squared length, and that length."""
    dim, responses = columns.shape
    squares = np.empty(TILE)
    longest, highest = 0, -1.0
    for first in range(0, responses, TILE):
        count = min(TILE, responses - first)
        squares[:count] = 0.0
        for i in range(dim):
            row = columns[i, first : first + count]
            for y in range(count):
                squares[y] += np.float64(row[y]) * np.float64(row[y])
        for y in range(count):
            if squares[y] > highest:
                longest, highest = first + y, squares[y]
    return longest, highest


def _rows(matrix: Array) -> Callable[[int], Array]:
    """Look up rows of a matrix; each is copied once, as a response is mostly chosen many times.

    The cache is no attribute: agents and truth have the same responses, and a row that an agent
    put into the cache would be a row for the truth, too.
    """
    cached: dict[int, Array] = {}

    def row(response: Any) -> Array:
        found = cached.get(response) if type(response) is int else None  # 1.0 and True equal 1
        if found is None:
            y = np.generic.item(response) if isinstance(response, np.integer) else response
            if type(y) is not int or not 0 <= y < len(matrix):
                raise SettingError(
                    f"A response must be a whole number from 0 to {len(matrix) - 1}, "
                    f"not {response!r}."
                )
            row = matrix[y] if matrix.dtype == np.float64 else matrix[y].astype(np.float64)
            # Immutable bytes: nobody who is given the row can make it writable.
            found = cached[y] = np.frombuffer(row.tobytes())
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
