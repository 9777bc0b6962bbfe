"""The words that a regression of words has columns for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from tellback.arrays import AnyArray, Array
from tellback.errors import SettingError
from tellback.models.near_words import nearest
from tellback.models.placed_words import places
from tellback.models.words import words

SELDOM = 2
"""A word said at most so often, and less often than one that it is near to, may be a slip."""


def stem(word: str) -> str:
    """A word without the s of its plural: "plates" and "plate" count as one.

    Examples
    --------
    >>> stem("plates"), stem("glass"), stem("is")
    ('plate', 'glass', 'is')
    """
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


class WordColumns:
    """The column of each word, and of words in a place or plurals where these tell something.

    Their number, and so the cost of a description, is bounded.

    Parameters
    ----------
    most : int
        The number of columns at most. Until they are taken, each new word takes the next.
    slips : bool
        Whether a word without a column is read as the one that it is near to (``near_words``).
    """

    def __init__(self, most: int, slips: bool = False) -> None:
        self._most = most
        self._slips = slips
        self._column: dict[str, int] = {}
        self._read_as: dict[str, str | None] = {}  # the nearest word with a column, found before
        self._placed = False  # whether any column is of a word in a place

    def __len__(self) -> int:
        return len(self._column)

    def of(self, word: str) -> int | None:
        """The column of a word, or None if it has none."""
        return self._of(stem(word))

    def _of(self, name: str) -> int | None:
        if name in self._column or not self._slips:
            return self._column.get(name)
        if name not in self._read_as:
            self._read_as[name] = nearest(name, self._column)
        return self._column.get(self._read_as[name] or name)

    def told(self, sentence: Sequence[str]) -> Array:
        """Which columns have a word in the sentence: a vector of 0 and 1."""
        told = np.zeros(len(self))
        names = plain_and_placed(sentence) if self._placed else map(stem, sentence)
        told[[column for name in names if (column := self._of(name)) is not None]] = 1.0
        return told

    def known(self, sentence: Sequence[str]) -> float:
        """The share of a sentence's words that have a column; 0 if it has none."""
        return sum(self.of(word) is not None for word in sentence) / max(1, len(sentence))

    def add(self, sentence: Iterable[str]) -> None:
        """Give columns to new words, while there are some left."""
        for word in sentence:
            if len(self) < self._most and self.of(word) is None:
                self._column[stem(word)] = len(self)
                self._read_as.clear()

    def choose(self, sentences: Sequence[Sequence[str]], placed: Sequence[str] = ()) -> None:
        """Give the columns to these placed words, and to the words in most of these sentences."""
        counts = Counter(
            one for sentence in sentences for one in dict.fromkeys(stem(word) for word in sentence)
        )
        plain: dict[str, int] = {}
        for word, count in counts.most_common():
            if len(plain) == self._most - len(placed):
                break
            often = (other for other, n in plain.items() if n > count)
            if not (self._slips and count <= SELDOM and nearest(word, often)):
                plain[word] = count
        self._set((*plain, *placed))

    def _set(self, names: Iterable[str]) -> None:
        self._column = {name: i for i, name in enumerate(names)}
        self._read_as.clear()
        self._placed = any(" " in name for name in self._column)

    def state(self) -> AnyArray:
        """The words and placed words in the order of their columns, as bytes."""
        text = "\n".join(self._column).encode(errors="surrogatepass")
        return np.frombuffer(text, dtype=np.uint8).copy()

    @classmethod
    def restored(cls, state: AnyArray, most: int, slips: bool = False) -> WordColumns:
        """The columns of a ``state()``."""
        try:
            text = state.astype(np.uint8, casting="safe").tobytes().decode(errors="surrogatepass")
        except (TypeError, UnicodeDecodeError) as error:
            raise SettingError("The saved columns are not text.") from error
        names = text.split("\n") if text else []
        columns = cls(most, slips)
        columns._set(names)
        if not len(columns) == len(names) <= most or any(map(_is_no_column, names)):
            raise SettingError("The saved columns are too many, or not words, or not distinct.")
        return columns


def _is_no_column(name: str) -> bool:
    word, *_ = name.split(" ")
    return words(word) != [word] or stem(word) != word


def plain_and_placed(sentence: Sequence[str]) -> list[str]:
    """The names of the words of a sentence, of its words in their places, and of its plurals.

    A space tells the first from the others.
    """
    stems = [stem(word) for word in sentence]
    plurals = [f"{one} s" for one, word in zip(stems, sentence, strict=True) if one != word]
    in_places = zip(stems, places(sentence), strict=True)
    return stems + plurals + [f"{one} {place}" for one, at in in_places for place in at]
