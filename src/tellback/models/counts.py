"""A history of descriptions, compressed to counts of its distinct entries."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled, compiled_lazily
from tellback.errors import SettingError
from tellback.responses import SIMPLEX_TOLERANCE
from tellback.roles import State

NONE = -1
SIZE, CURSOR = 0, 1  # indices into ``sizes``
INSTRUCTION, FOLLOWING = 0, 1  # the columns of ``links``
COUNT, FEATURES = 0, 1  # columns of ``numbers``; after the features come the responsibilities
_FLOAT = np.dtype(np.float64)


class Counts:
    """The distinct pairs (description, features), with a count and d responsibilities each.

    With fixed responses there are at most |X| |Y| entries, however long the history. If the
    features are new in every round, there is one entry per description.

    The arrays are public because kernels work on them. Finding an entry in Python would cost
    more than the rest of a round's learning:

    - ``sizes``: the number of entries (the other arrays have room for more), and a cursor for the
      model;
    - ``numbers``: a row for each entry with its count, its features and its responsibilities (for
      the model), in one array because a kernel needs all of them together;
    - ``links``: a row for each entry with its instruction, and the next older entry of the same;
    - ``first``: the newest entry of each instruction;
    - ``slots``: a hash table of the entries, at most half full.
    """

    def __init__(self, instructions: int, dim: int) -> None:
        self._shape = (dim,)
        self.first: Indices = np.full(instructions, NONE)
        self._clear()

    def _clear(self) -> None:
        self.sizes: Indices = np.zeros(2, dtype=np.int64)
        self.first[:] = NONE
        self.links: Indices = np.empty((0, 2), dtype=np.int64)
        self.numbers: Array = np.empty((0, 1 + 2 * self._shape[0]))
        self._capacity = 0
        self._grow(256)

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.sizes[SIZE])

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
        return self.numbers[: self.size, FEATURES : FEATURES + self._shape[0]]

    @property
    def responsibilities(self) -> Array:
        """The expected number of times that each component produced each entry."""
        return self.numbers[: self.size, FEATURES + self._shape[0] :]

    def expect(self, features: Array) -> None:
        """Check the features of a description, and make room for one more entry."""
        if features.shape != self._shape or features.dtype is not _FLOAT:
            raise SettingError(
                f"features must be {self._shape[0]} real numbers, not {features.dtype} "
                f"of shape {features.shape}."
            )
        self.make_room()

    def make_room(self) -> None:
        """Have room for one more entry."""
        if self.sizes.item(SIZE) == self._capacity:
            self._grow(2 * self._capacity)

    def add(self, x: int, features: Array) -> int:
        """Count a description; returns its entry."""
        self.expect(features)
        entry = count(x, features, self.first, self.links, self.numbers, self.slots, self.sizes)
        if entry == NONE:
            refuse_features(features)
        return entry

    def probabilities(self, f: Array) -> Array:
        """f(x') . g of every entry."""
        products: Array = np.einsum("ei,ei->e", f[self.rows], self.features)
        return products

    def log_likelihood(self, f: Array) -> float:
        """The sum over all descriptions of log f(x') . g (Algorithm 1, line 3)."""
        return float(self.counts @ np.log(self.probabilities(f)))

    def state(self) -> State:
        """The entries in order of their first description."""
        return {
            "entry_instructions": self.rows.copy(),
            "entry_numbers": self.numbers[: self.size].copy(),
        }

    def restore(self, state: State) -> None:
        """Replace all entries by saved ones."""
        rows = np.asarray(state["entry_instructions"], dtype=np.int64)
        numbers = np.asarray(state["entry_numbers"], dtype=np.float64)
        dim, instructions = self._shape[0], len(self.first)
        fits = rows.ndim == 1 and numbers.shape == (len(rows), 1 + 2 * dim)
        if not fits or (len(rows) and not 0 <= rows.min() <= rows.max() < instructions):
            raise SettingError(
                f"The saved history does not fit {instructions} instructions "
                f"and features of size {dim}."
            )
        if not np.isfinite(numbers).all() or (numbers < 0).any() or (numbers[:, COUNT] < 1).any():
            raise SettingError("The saved history has numbers that are not possible.")
        self._clear()
        for x, row in zip(rows.tolist(), numbers, strict=True):
            self.add(x, row[FEATURES : FEATURES + dim].copy())
        if self.size != len(rows):
            raise SettingError("The saved history has the same entry twice.")
        self.numbers[: self.size] = numbers

    def _grow(self, capacity: int) -> None:
        size = self.size
        for name in ("links", "numbers"):
            old = getattr(self, name)
            new = np.empty((capacity, old.shape[1]), dtype=old.dtype)
            new[:size] = old[:size]
            setattr(self, name, new)
        self.slots: Indices = np.full(2 * capacity, NONE)
        if size:  # else the kernel need not even be compiled
            _fill_slots(self.links, self.numbers, self.slots, size)
        self._capacity = capacity


def refuse_features(features: Array) -> None:
    """The error for features that are not a distribution over the components."""
    raise SettingError(
        f"features must be non-negative, finite and sum to 1, not {features}: only then is "
        "f(x) . g(y, s) a probability."
    )


@compiled_lazily
def count(
    x: int,
    features: Array,
    first: Indices,
    links: Indices,
    numbers: Array,
    slots: Indices,
    sizes: Indices,
) -> int:
    """Count a description; returns its entry, or NONE if the features are not a distribution."""
    dim = len(features)
    total, lowest = 0.0, 0.0
    for i in range(dim):
        total += features[i]
        lowest = features[i] if features[i] < lowest else lowest
    if lowest < 0.0 or not abs(total - 1.0) <= SIMPLEX_TOLERANCE:
        return NONE
    slot = _slot(x, features, links, numbers, slots)
    entry: int = slots[slot]
    if entry == NONE:
        entry = sizes[SIZE]
        sizes[SIZE] += 1
        slots[slot] = entry
        links[entry, INSTRUCTION] = x
        links[entry, FOLLOWING] = first[x]
        first[x] = entry
        numbers[entry, COUNT] = 0.0
        for i in range(dim):
            numbers[entry, FEATURES + i] = features[i]
            numbers[entry, FEATURES + dim + i] = 0.0
    numbers[entry, COUNT] += 1.0
    return entry


@compiled_lazily
def _slot(x: int, features: Array, links: Indices, numbers: Array, slots: Indices) -> int:
    """The slot of this entry in the hash table, or the empty slot where it belongs."""
    dim = len(features)
    mixed = np.uint64(x) * np.uint64(0x9E3779B97F4A7C15)
    bits = features.view(np.uint64)
    for i in range(dim):
        word = np.uint64(0) if features[i] == 0.0 else bits[i]  # -0.0 equals 0.0
        mixed = (mixed ^ word) * np.uint64(0x100000001B3)
        mixed ^= mixed >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)  # their number is a power of two
    slot = mixed & mask
    while True:
        entry = slots[slot]
        if entry == NONE:
            return int(slot)
        if links[entry, INSTRUCTION] == x:
            same = True
            for i in range(dim):
                same = same and numbers[entry, FEATURES + i] == features[i]
            if same:
                return int(slot)
        slot = (slot + np.uint64(1)) & mask


@compiled
def _fill_slots(links: Indices, numbers: Array, slots: Indices, size: int) -> None:
    dim = (numbers.shape[1] - 1) // 2
    features = np.empty(dim)
    for entry in range(size):
        for i in range(dim):
            features[i] = numbers[entry, FEATURES + i]
        slots[_slot(links[entry, INSTRUCTION], features, links, numbers, slots)] = entry
