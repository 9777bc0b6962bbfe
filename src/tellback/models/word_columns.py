"""The words that a regression of words has columns for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from tellback.arrays import Array


def stem(word: str) -> str:
    """A word without the s of its plural: "plates" and "plate" count as one.

    Examples
    --------
    >>> stem("plates"), stem("glass"), stem("is")
    ('plate', 'glass', 'is')
    """
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


class WordColumns:
    """The column of each word. Their number, and so the cost of a description, is bounded.

    Parameters
    ----------
    most : int
        The number of columns at most. Until they are taken, each new word takes the next.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._column: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._column)

    def of(self, word: str) -> int | None:
        """The column of a word, or None if it has none."""
        return self._column.get(stem(word))

    def told(self, sentence: Iterable[str]) -> Array:
        """Which columns have a word in the sentence: a vector of 0 and 1."""
        told = np.zeros(len(self))
        told[[column for word in sentence if (column := self.of(word)) is not None]] = 1.0
        return told

    def known(self, sentence: Sequence[str]) -> float:
        """The share of a sentence's words that have a column; 0 if it has none."""
        return sum(self.of(word) is not None for word in sentence) / max(1, len(sentence))

    def add(self, sentence: Iterable[str]) -> None:
        """Give columns to new words, while there are some left."""
        for word in sentence:
            if len(self) < self._most:
                self._column.setdefault(stem(word), len(self))

    def choose(self, sentences: Iterable[Iterable[str]]) -> None:
        """Give the columns to the words that occur in most of these sentences."""
        counts = Counter(
            one for sentence in sentences for one in dict.fromkeys(stem(word) for word in sentence)
        )
        self._column = {word: i for i, (word, _) in enumerate(counts.most_common(self._most))}
