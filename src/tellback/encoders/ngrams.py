"""Sentences as hashed word and character n-grams."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tellback.arrays import Array
from tellback.encoders.text import CachedEncoder, TextEncoder, TextEncoderSpec, plain_words, unit
from tellback.errors import SettingError
from tellback.specs import Count, Fraction


@dataclass(frozen=True)
class NGrams(TextEncoderSpec):
    """Word n-grams and character n-grams, hashed. Needs no training and no library.

    Word n-grams separate sentences that differ in one word. Character n-grams bring "squares"
    close to "square", and tolerate typos. The index and the sign of a gram come from its BLAKE2
    hash, so grams with the same index cancel as often as they add (Weinberger et al. 2009).

    Parameters
    ----------
    words : int
        The most words in a gram.
    shortest, longest : int
        The fewest and the most characters in a gram; a word has a space at either end.
    dim : int
        The number of features, shared by all grams.
    weight : float
        The share of word n-grams in the squared length; the rest is for character n-grams.

    Examples
    --------
    >>> encode = NGrams().build()
    >>> red, typo, blue = map(encode, ["a red ball", "A red bal!", "a blue ball"])
    >>> bool(red @ typo > red @ blue)
    True
    """

    words: Count = 2
    shortest: Count = 3
    longest: Count = 4
    dim: Count = 1024
    weight: Fraction = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.longest < self.shortest:
            raise SettingError(
                f"longest must be at least shortest, {self.shortest}, not {self.longest}."
            )

    def build(self) -> TextEncoder:
        """Build the encoder; nothing is loaded."""
        return CachedEncoder(self, self._encode)

    def _encode(self, sentence: str) -> Array:
        words = plain_words(sentence)
        by_word = unit(_counts(_word_grams(words, self.words), self.dim))
        by_character = unit(_counts(_character_grams(words, self.shortest, self.longest), self.dim))
        return unit(np.sqrt(self.weight) * by_word + np.sqrt(1 - self.weight) * by_character)


def _word_grams(words: list[str], most: int) -> Iterator[str]:
    for n in range(1, most + 1):
        for i in range(len(words) - n + 1):
            yield "w" + " ".join(words[i : i + n])


def _character_grams(words: list[str], shortest: int, longest: int) -> Iterator[str]:
    for word in words:
        padded = f" {word} "
        for n in range(shortest, longest + 1):
            for i in range(max(len(padded) - n, 0) + 1):
                yield "c" + padded[i : i + n]


def _counts(grams: Iterable[str], dim: int) -> Array:
    counts = np.zeros(dim)
    for gram in grams:
        hashed = _hashed(gram)
        counts[(hashed >> 1) % dim] += 1 - 2 * (hashed & 1)
    return counts


@lru_cache(65536)
def _hashed(gram: str) -> int:
    # Python's hash() differs between processes.
    digest = hashlib.blake2b(gram.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
