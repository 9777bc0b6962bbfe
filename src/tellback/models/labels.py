"""Labels of descriptions for ridge regression: one-hot, or embeddings of sentences."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from tellback.arrays import Array, Indices
from tellback.encoders.text import TextEncoder, TextEncoderSpec
from tellback.errors import SettingError
from tellback.models.model import checked_instruction, checked_sentence
from tellback.models.states import NothingLearned
from tellback.roles import Instruction, State

_ONE = np.ones(1)
_NONE = np.empty(0, dtype=np.int64)


class SparseLabel(NamedTuple):
    """The label of an instruction: the rows that are not 0, and their weights."""

    rows: Indices
    weights: Array


class LabelEncoder(Protocol):
    """Gives every instruction its label."""

    @property
    def size(self) -> int:
        """The number of rows now."""

    def look_up(self, instruction: Instruction) -> SparseLabel:
        """The label of an instruction; without rows if it is new. Changes nothing."""

    def learn(self, instruction: Instruction) -> SparseLabel:
        """The label of an instruction; a new one gets a row."""

    def state(self) -> State:
        """The learned rows, in arrays."""

    def restore(self, state: State) -> None:
        """Restore such a state."""


class TableLabels(NothingLearned):
    """One row for each instruction of a table."""

    def __init__(self, instructions: int) -> None:
        self.size = instructions
        self._made: dict[int, SparseLabel] = {}  # to make one takes longer than to look it up

    def look_up(self, instruction: Instruction) -> SparseLabel:
        """The instruction's own row."""
        row = checked_instruction(instruction, self.size)
        label = self._made.get(row)
        if label is None:
            label = self._made[row] = SparseLabel(np.array([row]), _ONE)
        return label

    learn = look_up


class SentenceLabels:
    """One row for each sentence; a new sentence takes the next free row.

    Different wordings share nothing. It is the baseline for embeddings.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    @property
    def size(self) -> int:
        """The number of distinct sentences."""
        return len(self._rows)

    def look_up(self, instruction: Instruction) -> SparseLabel:
        """The row of a sentence; none if it is new."""
        row = self._rows.get(checked_sentence(instruction))
        return (
            SparseLabel(_NONE, np.empty(0)) if row is None else SparseLabel(np.array([row]), _ONE)
        )

    def learn(self, instruction: Instruction) -> SparseLabel:
        """The row of a sentence."""
        row = self._rows.setdefault(checked_sentence(instruction), len(self._rows))
        return SparseLabel(np.array([row]), _ONE)

    def state(self) -> State:
        """The sentences in the order of their rows."""
        encoded = [sentence.encode(errors="surrogatepass") for sentence in self._rows]
        return {
            "sentences": np.frombuffer(b"".join(encoded), dtype=np.uint8).copy(),
            "lengths": np.array([len(one) for one in encoded], dtype=np.int64),
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        text, lengths = np.asarray(state["sentences"]), np.asarray(state["lengths"])
        if text.dtype != np.uint8 or lengths.dtype.kind != "i" or (lengths < 0).any():
            raise SettingError("The saved sentences are not text.")
        ends = np.cumsum(lengths)
        if (int(ends[-1]) if len(ends) else 0) != len(text):
            raise SettingError("The saved sentences do not have the saved lengths.")
        try:
            sentences = [
                part.tobytes().decode(errors="surrogatepass")
                for part in np.split(text, ends[:-1])[: len(ends)]
            ]
        except UnicodeDecodeError as error:
            raise SettingError("The saved sentences are not text.") from error
        rows = {sentence: row for row, sentence in enumerate(sentences)}
        if len(rows) != len(sentences):
            raise SettingError("The saved sentences have one twice.")
        self._rows = rows


class EmbeddedLabels(NothingLearned):
    """One row for each feature of an encoder; similar sentences share rows."""

    def __init__(self, encoder: TextEncoderSpec) -> None:
        self.size = encoder.dim
        self._encode: TextEncoder = encoder.build()

    def look_up(self, instruction: Instruction) -> SparseLabel:
        """The features of the sentence that are not 0."""
        features = self._encode(checked_sentence(instruction))
        rows = np.flatnonzero(features)
        return SparseLabel(rows, features[rows])

    learn = look_up
