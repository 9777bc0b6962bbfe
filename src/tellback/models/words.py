"""Words of sentences, and a vocabulary that grows with the descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from tellback.arrays import AnyArray
from tellback.errors import SettingError

BEGIN, END = 0, 1
"""The rows of the marks of the beginning and the end of a sentence."""

LONGEST = 60
"""The most words of a description by a model."""

_MARKS = 2
_TOKENS = re.compile(r"[\w'\u2019]+|[^\w\s]")


def words(sentence: str) -> list[str]:
    """The words of a sentence in lower case; each punctuation mark is a word.

    Examples
    --------
    >>> words("There is a red colored object.")
    ['there', 'is', 'a', 'red', 'colored', 'object', '.']
    """
    return _TOKENS.findall(sentence.lower())


class Vocabulary:
    """The row of each word: a new word takes the next free row."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._rows: dict[str, int] = {}
        self._words = ["_"] * _MARKS
        for word in known:
            self._row(word)

    def __len__(self) -> int:
        """The number of rows, including the two marks."""
        return _MARKS + len(self._rows)

    def learn(self, sentence: str) -> list[int]:
        """The rows of a sentence's words; new words take the next rows."""
        return [self._row(word) for word in words(sentence)]

    def look_up(self, sentence: str) -> list[int]:
        """The rows of a sentence's words, without adding to the vocabulary.

        A new word gets the row that it would take next.
        """
        new: dict[str, int] = {}
        return [
            self._rows[word] if word in self._rows else new.setdefault(word, len(self) + len(new))
            for word in words(sentence)
        ]

    def words_of(self, rows: Iterable[int]) -> list[str]:
        """The words of some rows; a row without a word is shown as '_'."""
        return [self._words[row] if row < len(self) else "_" for row in rows]

    def spell(self, rows: Sequence[int]) -> str:
        """The sentence of some rows; a row without a word is shown as '_'."""
        return re.sub(r" (?=[.,;:!?)\]])|(?<=[(\[]) ", "", " ".join(self.words_of(rows)))

    def state(self) -> AnyArray:
        """The words in the order of their rows, as bytes."""
        text = "\n".join(self._rows).encode(errors="surrogatepass")
        return np.frombuffer(text, dtype=np.uint8).copy()

    @classmethod
    def restored(cls, state: AnyArray) -> Vocabulary:
        """The vocabulary of a ``state()``."""
        try:
            if state.dtype != np.uint8 or state.ndim != 1:
                raise SettingError("The saved vocabulary is not text.")
            text = state.tobytes().decode(errors="surrogatepass")
        except UnicodeDecodeError as error:
            raise SettingError("The saved vocabulary is not text.") from error
        known = text.split("\n") if text else []
        vocabulary = cls(known)
        if len(vocabulary) != _MARKS + len(known) or any(words(word) != [word] for word in known):
            raise SettingError("The saved vocabulary has a word twice, or one that is no word.")
        return vocabulary

    def _row(self, word: str) -> int:
        if word not in self._rows:
            self._rows[word] = len(self)
            self._words.append(word)
        return self._rows[word]
