"""What a description counts for: rows of a table of sums, and how much for each."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from tellback.arrays import Array, Indices
from tellback.encoders.text import TextEncoder, TextEncoderSpec
from tellback.errors import SettingError
from tellback.models.model import checked_instruction, checked_sentence
from tellback.roles import Instruction, State

_ONE = np.ones(1)
_NONE = np.empty(0, dtype=np.int64)


class Label(NamedTuple):
    """The rows that an instruction counts for, and its weight in each."""

    rows: Indices
    weights: Array


class Labels(Protocol):
    """Gives every instruction its label."""

    @property
    def size(self) -> int:
        """How many rows there are now."""
        ...

    def known(self, instruction: Instruction) -> Label:
        """The label of an instruction, changing nothing; without a row if it has none yet."""
        ...

    def learned(self, instruction: Instruction) -> Label:
        """The label of an instruction, which gets one if it has none yet."""
        ...

    def state(self) -> State:
        """What was learned, in arrays."""
        ...

    def restore(self, state: State) -> None:
        """Go back to such a state."""
        ...


class TableLabels:
    """One row an instruction of a table.

    Parameters
    ----------
    instructions : int
        |X|.
    """

    def __init__(self, instructions: int) -> None:
        self.size = instructions

    def known(self, instruction: Instruction) -> Label:
        """The instruction's own row."""
        return Label(np.array([checked_instruction(instruction, self.size)]), _ONE)

    learned = known

    def state(self) -> State:
        """Nothing was learned."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing was learned."""


class SentenceLabels:
    """One row a sentence, the next free one when it is first said.

    Nothing that is said in one wording is known of another: what embeddings are measured by.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    @property
    def size(self) -> int:
        """How many sentences were said."""
        return len(self._rows)

    def known(self, instruction: Instruction) -> Label:
        """The row of a sentence; none if it was never said."""
        row = self._rows.get(checked_sentence(instruction))
        return Label(_NONE, np.empty(0)) if row is None else Label(np.array([row]), _ONE)

    def learned(self, instruction: Instruction) -> Label:
        """The row of a sentence."""
        row = self._rows.setdefault(checked_sentence(instruction), len(self._rows))
        return Label(np.array([row]), _ONE)

    def state(self) -> State:
        """The sentences in the order of their rows."""
        said = [sentence.encode(errors="surrogatepass") for sentence in self._rows]
        return {
            "sentences": np.frombuffer(b"".join(said), dtype=np.uint8).copy(),
            "lengths": np.array([len(one) for one in said], dtype=np.int64),
        }

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        text, lengths = np.asarray(state["sentences"]), np.asarray(state["lengths"])
        if text.dtype != np.uint8 or lengths.dtype.kind != "i" or (lengths < 0).any():
            raise SettingError("The saved sentences are not text.")
        ends = np.cumsum(lengths)
        if (int(ends[-1]) if len(ends) else 0) != len(text):
            raise SettingError("The saved sentences do not have the saved lengths.")
        try:
            said = [
                part.tobytes().decode(errors="surrogatepass")
                for part in np.split(text, ends[:-1])[: len(ends)]
            ]
        except UnicodeDecodeError as error:
            raise SettingError("The saved sentences are not text.") from error
        rows = {sentence: row for row, sentence in enumerate(said)}
        if len(rows) != len(said):
            raise SettingError("The saved sentences have one twice.")
        self._rows = rows


class EmbeddedLabels:
    """A row a feature of an encoder, which sentences share as far as they are alike.

    Parameters
    ----------
    encoder : TextEncoderSpec
        Of sentences.
    """

    def __init__(self, encoder: TextEncoderSpec) -> None:
        self.size = encoder.dim
        self._encode: TextEncoder = encoder.build()

    def known(self, instruction: Instruction) -> Label:
        """The features of the sentence that are not 0."""
        features = self._encode(checked_sentence(instruction))
        rows = np.flatnonzero(features)
        return Label(rows, features[rows])

    learned = known

    def state(self) -> State:
        """Nothing was learned."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing was learned."""
