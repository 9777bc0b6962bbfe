"""The interface of encoders of sentences: a sentence in, a vector out.

Nothing here is trained. The same sentence has the same vector in every process, and up to the
last bits on every machine, so an agent taught on one machine can be used on another.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import methodcaller
from typing import Any, ClassVar, Protocol

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.specs import Spec

CACHED_SENTENCES = 8192

_ACCENTS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = re.compile("['`\u00b4\u2018\u2019\u02bc\uff07]")


class TextEncoder(Protocol):
    """A live encoder of sentences."""

    def __call__(self, sentence: str) -> Array:
        """A vector of length 1, read-only; zeros for a sentence without a word."""


@dataclass(frozen=True)
class TextEncoderSpec(Spec):
    """The settings of an encoder of sentences."""

    role: ClassVar[str] = "text"

    @property
    def dim(self) -> int:
        """How many features it gives."""
        raise NotImplementedError

    def build(self) -> TextEncoder:
        """Build the encoder."""
        raise NotImplementedError


def demand_text_encoder(name: str, thing: object) -> None:
    """Refuse a setting that is not the spec of an encoder of sentences."""
    if not isinstance(thing, TextEncoderSpec):
        raise SettingError(f"{name} must be the spec of an encoder of sentences, not {thing!r}.")


def plain_words(sentence: str) -> list[str]:
    """The words of a sentence without capitals, accents and punctuation.

    Compatible forms are made equal (NFKC). Letters lose their case, and the accents of the
    Latin, Greek and Cyrillic alphabets. Apostrophes are removed.

    Examples
    --------
    >>> plain_words("It's a RED caf\u00e9-table!")
    ['its', 'a', 'red', 'cafe', 'table']
    """
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    joined = _APOSTROPHES.sub("", unicodedata.normalize("NFC", bare))
    return "".join(map(_spaced, joined)).split()


def _spaced(character: str) -> str:
    """The character itself, with spaces around it if it is a word; nothing or a space if not."""
    category = unicodedata.category(character)
    if category[0] in "LNM":  # letters, numbers, and marks that change a letter
        return character
    if category == "Cf":  # invisible
        return ""
    return f" {character} " if category == "So" else " "


def unit(vector: Array) -> Array:
    """The vector at length 1; zeros stay zeros."""
    length = math.sqrt(math.fsum((vector * vector).tolist()))  # to the bit, on any processor
    return vector / length if length else vector


class CachedEncoder:
    """An encoder with a cache of the latest sentences. Its vectors are read-only.

    A copy of the encoder, in any process, is built from its spec.
    """

    def __init__(self, spec: TextEncoderSpec, encode: Callable[[str], Array]) -> None:
        self._spec = spec
        self._encode = encode
        self._cached = lru_cache(CACHED_SENTENCES)(self._encoded)

    def __call__(self, sentence: str) -> Array:
        """A vector of length 1, read-only; zeros for a sentence without a word."""
        return self._cached(sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        return methodcaller("build"), (self._spec,)

    def _encoded(self, sentence: str) -> Array:
        if not isinstance(sentence, str):
            raise SettingError(f"An encoder of sentences needs a sentence, not {sentence!r}.")
        features = self._encode(sentence)
        features.flags.writeable = False
        return features
