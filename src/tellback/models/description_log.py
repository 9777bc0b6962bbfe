"""What was said of which features: a history compressed to its distinct entries."""

from __future__ import annotations

import numpy as np

from tellback.arrays import AnyArray, Array, Indices
from tellback.errors import SettingError
from tellback.models.gru import Floats
from tellback.roles import State


class DescriptionLog:
    """The distinct sentences, the distinct pairs (features, sentence), and each description.

    Where pictures repeat, there are few entries however long the history, and a description
    costs one number.

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
        """The features in single precision, if they are as many numbers as there should be."""
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
        """Take in one description of features that were checked."""
        which = self._known_sentence(sentence)
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
        """The entry of every description, in the order in which they came."""
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
        """The rows of every sentence's words, a row a sentence, 0 after its end."""
        return self._sentences.filled

    @property
    def lengths(self) -> Indices:
        """How many words each sentence has."""
        return self._lengths.filled

    def sentence_of(self, entry: int) -> list[int]:
        """The rows of the words of an entry's sentence."""
        told = self.entry_sentences[entry]
        rows: list[int] = self.sentences[told, : self.lengths[told]].tolist()
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
        """The history that ``state`` gave, if it fits features and vocabulary."""
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
            and _within(lengths, sentences.shape[1] + 1)
            and _within(of, len(sentences))
            and _within(described, len(of))
            and all(_within(s[:n], vocabulary) for s, n in zip(sentences, lengths, strict=True))
        )
        if not fits:
            raise SettingError(f"The saved history does not fit features of size {dim}.")
        said = cls(dim)
        for row, which in zip(features, of.tolist(), strict=True):
            said.add(said.checked(row), sentences[which, : lengths[which]].tolist())
        if len(said._entry) != len(of) or not np.array_equal(said.entry_sentences, of):
            raise SettingError("The saved history has an entry twice, or out of order.")
        said._described = _Growing(np.int64)
        for entry in described.tolist():
            said._described.append(entry)
        return said

    def _known_sentence(self, sentence: list[int]) -> int:
        key = tuple(sentence)
        which = self._sentence.get(key)
        if which is None:
            which = self._sentence[key] = len(self._sentence)
            self._sentences.widen(len(key))
            self._sentences.append(np.array(key, dtype=np.int64))
            self._lengths.append(len(key))
        return which


class _Growing:
    """An array to which rows are added, with room for more of them."""

    def __init__(self, dtype: type, *row: int) -> None:
        self._room: AnyArray = np.zeros((16, *row), dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def filled(self) -> AnyArray:
        return self._room[: self._size]

    def append(self, row: AnyArray | int) -> None:
        if self._size == len(self._room):
            self._room = np.concatenate([self._room, np.zeros_like(self._room)])
        if isinstance(row, int):
            self._room[self._size] = row
        else:
            self._room[self._size, : len(row)] = row
        self._size += 1

    def widen(self, columns: int) -> None:
        """Make rows at least so long; what is added to the old ones is 0."""
        lacking = columns - self._room.shape[1]
        if lacking > 0:
            self._room = np.pad(self._room, ((0, 0), (0, lacking)))


def _whole_numbers(state: State, name: str) -> Indices:
    """An array of whole numbers out of a state; an error if it is none."""
    saved = np.asarray(state[name])
    if saved.dtype.kind not in "iu":
        raise SettingError(f"The saved {name} must be whole numbers, not {saved.dtype}.")
    return saved.astype(np.int64)


def _within(numbers: Indices, end: int) -> bool:
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < end)
