"""The log of descriptions in words, compressed to its distinct entries."""

from __future__ import annotations

import numpy as np

from tellback.arrays import AnyArray, Array, Indices
from tellback.errors import SettingError
from tellback.models.lanes import Floats
from tellback.roles import State


class DescriptionLog:
    """Distinct sentences, distinct entries (features, sentence), and the entry of each description.

    Where responses repeat, there are few entries, and a description costs one number.

    Parameters
    ----------
    dim : int
        The size of the features.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._sentence: dict[tuple[int, ...], int] = {}
        self._entry: dict[tuple[int, bytes], int] = {}
        self._described = _Growing(np.int64)
        self._features = _Growing(np.float32, dim)
        self._entry_sentences = _Growing(np.int64)
        self._sentences = _Growing(np.int64, 1)
        self._lengths = _Growing(np.int64)

    def checked(self, features: Array) -> Floats:
        """The features in single precision; an error if they are not finite or of another size."""
        given = np.asarray(features)
        with np.errstate(over="ignore"):
            single = given.astype(np.float32) + np.float32(0)  # -0.0 equals 0.0
        if given.shape != (self._dim,) or not np.isfinite(single).all():
            raise SettingError(
                f"features must be {self._dim} finite real numbers, in single precision too, "
                f"not {features!r}."
            )
        return single

    def add(self, features: Floats, sentence: list[int]) -> None:
        """Add a description of features that were checked."""
        which = self._index_of(sentence)
        key = (which, features.tobytes())
        entry = self._entry.get(key)
        if entry is None:
            entry = self._entry[key] = len(self._entry)
            self._features.append(features)
            self._entry_sentences.append(which)
        self._described.append(entry)

    def __len__(self) -> int:
        return len(self._described)

    @property
    def described(self) -> Indices:
        """The entry of every description, in order."""
        return self._described.filled

    @property
    def features(self) -> Floats:
        """The features of every entry."""
        return self._features.filled

    @property
    def entry_sentences(self) -> Indices:
        """The sentence of every entry."""
        return self._entry_sentences.filled

    @property
    def sentences(self) -> Indices:
        """The words of every sentence, a row a sentence, 0 after its end."""
        return self._sentences.filled

    @property
    def lengths(self) -> Indices:
        """The number of words of each sentence."""
        return self._lengths.filled

    def sentence_of(self, entry: int) -> list[int]:
        """The words of an entry's sentence."""
        which = self.entry_sentences[entry]
        rows: list[int] = self.sentences[which, : self.lengths[which]].tolist()
        return rows

    def state(self) -> State:
        """Everything, in arrays."""
        return {
            "described": self.described.copy(),
            "entry_features": self.features.copy(),
            "entry_sentences": self.entry_sentences.copy(),
            "sentences": self.sentences.copy(),
            "lengths": self.lengths.copy(),
        }

    @classmethod
    def restored(cls, state: State, dim: int, vocabulary: int) -> DescriptionLog:
        """The log of a ``state()``, if it fits features and vocabulary."""
        described, of, sentences, lengths = (
            _whole_numbers(state, name)
            for name in ("described", "entry_sentences", "sentences", "lengths")
        )
        features = np.asarray(state["entry_features"])
        fits = (
            described.ndim == of.ndim == 1
            and features.shape == (len(of), dim)
            and sentences.ndim == 2
            and lengths.shape == (len(sentences),)
            and _all_below(lengths, sentences.shape[1] + 1)
            and _all_below(of, len(sentences))
            and _all_below(described, len(of))
            and all(_all_below(s[:n], vocabulary) for s, n in zip(sentences, lengths, strict=True))
        )
        if not fits:
            raise SettingError(f"The saved history does not fit features of size {dim}.")
        log = cls(dim)
        for row, which in zip(features, of.tolist(), strict=True):
            log.add(log.checked(row), sentences[which, : lengths[which]].tolist())
        if len(log._entry) != len(of) or not np.array_equal(log.entry_sentences, of):
            raise SettingError("The saved history has an entry twice, or out of order.")
        log._described = _Growing(np.int64)
        for entry in described.tolist():
            log._described.append(entry)
        return log

    def _index_of(self, sentence: list[int]) -> int:
        key = tuple(sentence)
        which = self._sentence.get(key)
        if which is None:
            which = self._sentence[key] = len(self._sentence)
            self._sentences.widen(len(key))
            self._sentences.append(np.array(key, dtype=np.int64))
            self._lengths.append(len(key))
        return which


class _Growing:
    """An array that grows by rows."""

    def __init__(self, dtype: type, *row: int) -> None:
        self._buffer: AnyArray = np.zeros((16, *row), dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def filled(self) -> AnyArray:
        return self._buffer[: self._size]

    def append(self, row: AnyArray | int) -> None:
        if self._size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.zeros_like(self._buffer)])
        if isinstance(row, int):
            self._buffer[self._size] = row
        else:
            self._buffer[self._size, : len(row)] = row
        self._size += 1

    def widen(self, columns: int) -> None:
        """Pad all rows with zeros to at least this length."""
        lacking = columns - self._buffer.shape[1]
        if lacking > 0:
            self._buffer = np.pad(self._buffer, ((0, 0), (0, lacking)))


def _whole_numbers(state: State, name: str) -> Indices:
    """An array of whole numbers of a state; an error if it is something else."""
    saved = np.asarray(state[name])
    if saved.dtype.kind not in "iu":
        raise SettingError(f"The saved {name} must be whole numbers, not {saved.dtype}.")
    return saved.astype(np.int64)


def _all_below(numbers: Indices, end: int) -> bool:
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < end)
