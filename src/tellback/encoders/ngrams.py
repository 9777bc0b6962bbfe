"""Sentences as the words and the parts of words in them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tellback.arrays import Array
from tellback.encoders.text import Remembering, TextEncoder, TextEncoderSpec, plain_words, unit
from tellback.errors import SettingError, real, whole


@dataclass(frozen=True)
class NGrams(TextEncoderSpec):
    """Word n-grams and character n-grams, hashed. Needs no training and no library.

    Words keep apart sentences that differ in one of them; parts of words bring together
    "squares" and "square", and forgive a typo. A gram's place and sign come from its BLAKE2
    hash, so that grams which share a place cancel as often as they add (Weinberger et al.
    2009).

    Parameters
    ----------
    words : int
        Up to how many words in a row make a gram.
    shortest, longest : int
        How many characters make a part of a word, the gaps before and after it counted in.
    dim : int
        How many features there are for all grams to share.
    weight : float
        The share of the squared length that is for words; the rest is for parts of words.

    Examples
    --------
    >>> encode = NGrams().build()
    >>> red, typo, blue = map(encode, ["a red ball", "A red bal!", "a blue ball"])
    >>> bool(red @ typo > red @ blue)
    True
    """

    words: int = 2
    shortest: int = 3
    longest: int = 4
    dim: int = 1024
    weight: float = 0.5

    def __post_init__(self) -> None:
        shortest = whole("shortest", self.shortest)
        longest = whole("longest", self.longest)
        if longest < shortest:
            raise SettingError(f"longest must be at least shortest, {shortest}, not {longest}.")
        self._set_validated(
            words=whole("words", self.words),
            shortest=shortest,
            longest=longest,
            dim=whole("dim", self.dim),
            weight=real("weight", self.weight, at_least=0, at_most=1),
        )

    def build(self) -> TextEncoder:
        """Nothing to be loaded."""
        return Remembering(self, self._encode)

    def _encode(self, sentence: str) -> Array:
        said = plain_words(sentence)
        of_words = unit(_counted(_in_a_row(said, self.words), self.dim))
        of_parts = unit(_counted(_parts(said, self.shortest, self.longest), self.dim))
        return unit(np.sqrt(self.weight) * of_words + np.sqrt(1 - self.weight) * of_parts)


def _in_a_row(said: list[str], most: int) -> Iterator[str]:
    for n in range(1, most + 1):
        for i in range(len(said) - n + 1):
            yield "w" + " ".join(said[i : i + n])


def _parts(said: list[str], shortest: int, longest: int) -> Iterator[str]:
    for word in said:
        padded = f" {word} "
        for n in range(shortest, longest + 1):
            for i in range(max(len(padded) - n, 0) + 1):
                yield "c" + padded[i : i + n]


def _counted(grams: Iterable[str], dim: int) -> Array:
    counts = np.zeros(dim)
    for gram in grams:
        hashed = _hashed(gram)
        counts[(hashed >> 1) % dim] += 1 - 2 * (hashed & 1)
    return counts


@lru_cache(65536)
def _hashed(gram: str) -> int:
    # Python's own hash() is another in every process.
    digest = hashlib.blake2b(gram.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
