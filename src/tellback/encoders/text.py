"""What an encoder of sentences is: it turns a sentence into a vector.

Nothing here is trained. The same sentence has the same vector in every process, and but for the
last bits on every machine, so that what was learned on one can be used on another.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.specs import Spec

REMEMBERED_SENTENCES = 8192

_ACCENTS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = re.compile("['`\u00b4\u2018\u2019\u02bc\uff07]")


class TextEncoder(Protocol):
    """A live encoder of sentences."""

    def __call__(self, sentence: str) -> Array:
        """A vector of length 1, read-only; zeros for a sentence without a word."""
        ...


@dataclass(frozen=True)
class TextEncoderSpec(Spec):
    """The settings of an encoder of sentences."""

    role: ClassVar[str] = "text"

    @property
    def dim(self) -> int:
        """How many features it gives."""
        raise NotImplementedError

    def build(self) -> TextEncoder:
        """Bring the encoder to life."""
        raise NotImplementedError


def plain_words(sentence: str) -> list[str]:
    """The words of a sentence as they are compared: no capitals, accents or punctuation.

    Compatible forms are made one (NFKC), letters lose their case and the accents of the
    Latin, Greek and Cyrillic alphabets; apostrophes join what they part.

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
    """A character as it counts: part of a word, a word of its own, nothing, or a gap."""
    category = unicodedata.category(character)
    if category[0] in "LNM":  # letters, numbers, and the marks that make other letters of them
        return character
    if category == "Cf":  # invisible
        return ""
    return f" {character} " if category == "So" else " "


def unit(vector: Array) -> Array:
    """The vector at length 1; zeros stay zeros."""
    length = math.sqrt(math.fsum((vector * vector).tolist()))  # to the bit, on any processor
    return vector / length if length else vector


class Remembering:
    """An encoder that works out each of the latest sentences once, and gives it read-only.

    Parameters
    ----------
    spec : TextEncoderSpec
        From which a copy, here or in another process, is made anew.
    encode : callable
        The vector of a sentence.
    """

    def __init__(self, spec: TextEncoderSpec, encode: Callable[[str], Array]) -> None:
        self._spec = spec
        self._encode = encode
        self._remembered = lru_cache(REMEMBERED_SENTENCES)(self._encoded)

    def __call__(self, sentence: str) -> Array:
        """A vector of length 1, read-only; zeros for a sentence without a word."""
        return self._remembered(sentence)

    def __reduce__(self) -> tuple[Callable[[TextEncoderSpec], TextEncoder], tuple[TextEncoderSpec]]:
        return _begun, (self._spec,)

    def _encoded(self, sentence: str) -> Array:
        if not isinstance(sentence, str):
            raise SettingError(f"An encoder of sentences was given {sentence!r}, no sentence.")
        features = self._encode(sentence)
        features.flags.writeable = False
        return features


def _begun(spec: TextEncoderSpec) -> TextEncoder:
    return spec.build()
