"""A history of descriptions, compressed to its distinct entries with their counts."""

from __future__ import annotations

import math

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import SettingError
from tellback.roles import State

NONE = -1
INSTRUCTION, FOLLOWING = 0, 1  # the columns of ``links``
COUNT, FEATURES = 0, 1  # where an entry's numbers begin; its shares follow its features


class Entries:
    """The distinct pairs (description, features), with a count and d *shares* each.

    With fixed responses there are never more than |X| |Y| of them, however long the
    history; with features that are new every round there is one a description.

    Parameters
    ----------
    instructions, dim : int
        |X| and d.

    Attributes
    ----------
    size : int
        How many entries there are; the arrays have room for more.
    numbers : Array
        A row an entry: its count, its features, its shares (for the model to use). One
        array, because a kernel that visits an entry needs all of them at once.
    links : Indices
        A row an entry: its instruction, and the next older entry of the same instruction.
    first : Indices
        The newest entry of each instruction.
    """

    def __init__(self, instructions: int, dim: int) -> None:
        self._dim = dim
        self._clear(instructions)

    def _clear(self, instructions: int) -> None:
        self.size = 0
        self.first: Indices = np.full(instructions, NONE)
        self.links: Indices = np.empty((0, 2), dtype=np.int64)
        self.numbers: Array = np.empty((0, 1 + 2 * self._dim))
        self._positions: dict[tuple[int, bytes], int] = {}

    @property
    def rows(self) -> Indices:
        """The instruction of each entry."""
        return self.links[: self.size, INSTRUCTION]

    @property
    def counts(self) -> Array:
        """How often each entry was described."""
        return self.numbers[: self.size, COUNT]

    @property
    def features(self) -> Array:
        """The features of each entry."""
        return self.numbers[: self.size, FEATURES : FEATURES + self._dim]

    @property
    def shares(self) -> Array:
        """The shares of each entry."""
        return self.numbers[: self.size, FEATURES + self._dim :]

    def locate(self, x: int, features: Array) -> int:
        """The entry of a description; a new one has room, but is not written yet."""
        key = (x, features.tobytes())
        entry = self._positions.get(key)
        if entry is None:
            self._check(features)
            entry = self.size
            if entry == len(self.links):
                self._grow(max(256, 2 * entry))
            self._positions[key] = entry
            self.size += 1
            self.numbers[entry, COUNT] = 0.0
        return entry

    def add(self, x: int, features: Array) -> int:
        """Count one more description; returns its entry."""
        entry = self.locate(x, features)
        count_entry(entry, x, features, self.first, self.links, self.numbers)
        return entry

    def probabilities(self, f: Array) -> Array:
        """f(x') . g of every entry."""
        products: Array = np.einsum("ei,ei->e", f[self.rows], self.features)
        return products

    def log_likelihood(self, f: Array) -> float:
        """The sum over all descriptions of log f(x') . g (Algorithm 1, line 3)."""
        return float(self.counts @ np.log(self.probabilities(f)))

    def state(self) -> State:
        """The entries in the order in which they came."""
        return {
            "entry_instructions": self.rows.copy(),
            "entry_numbers": self.numbers[: self.size].copy(),
        }

    def restore(self, state: State) -> None:
        """Replace all entries by saved ones."""
        rows = np.asarray(state["entry_instructions"], dtype=np.int64)
        numbers = np.asarray(state["entry_numbers"], dtype=np.float64)
        instructions = len(self.first)
        fits = rows.ndim == 1 and numbers.shape == (len(rows), 1 + 2 * self._dim)
        if not fits or (len(rows) and not 0 <= rows.min() <= rows.max() < instructions):
            raise SettingError(
                f"The saved history does not fit {instructions} instructions "
                f"and features of size {self._dim}."
            )
        self._clear(instructions)
        for x, row in zip(rows.tolist(), numbers, strict=True):
            self.add(x, row[FEATURES : FEATURES + self._dim])
        self.numbers[: self.size] = numbers

    def _check(self, features: Array) -> None:
        if features.shape != (self._dim,) or features.dtype != np.float64:
            raise SettingError(
                f"features must be {self._dim} real numbers, not {features.dtype} "
                f"of shape {features.shape}."
            )
        if not math.isfinite(sum(features.tolist())):
            raise SettingError(f"features must be finite, not {features}.")

    def _grow(self, capacity: int) -> None:
        for name in ("links", "numbers"):
            old = getattr(self, name)
            new = np.empty((capacity, old.shape[1]), dtype=old.dtype)
            new[: self.size] = old[: self.size]
            setattr(self, name, new)


@compiled
def count_entry(
    entry: int, x: int, features: Array, first: Indices, links: Indices, numbers: Array
) -> None:
    """Count a description that was located, writing its entry down if it is the first."""
    if numbers[entry, COUNT] == 0.0:
        links[entry, INSTRUCTION] = x
        links[entry, FOLLOWING] = first[x]
        first[x] = entry
        dim = len(features)
        for i in range(dim):
            numbers[entry, FEATURES + i] = features[i]
            numbers[entry, FEATURES + dim + i] = 0.0
    numbers[entry, COUNT] += 1.0
