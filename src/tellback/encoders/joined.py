"""Two encoders of sentences, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tellback.arrays import Array
from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import Remembering, TextEncoder, TextEncoderSpec, unit
from tellback.encoders.word_vectors import WordVectors
from tellback.errors import SettingError, real


@dataclass(frozen=True)
class Joined(TextEncoderSpec):
    """The features of two encoders in one vector.

    By default n-grams, which keep "red" and "blue" apart, and word vectors, by which what is
    learned of "red" helps with "crimson". The cosine of two sentences is the weighted mean of
    their cosines under each.

    Parameters
    ----------
    first, second : TextEncoderSpec
        The encoders.
    weight : float
        The share of the squared length that is for the first.
    """

    first: TextEncoderSpec = field(default_factory=NGrams)
    second: TextEncoderSpec = field(default_factory=WordVectors)
    weight: float = 0.5

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            if not isinstance(getattr(self, name), TextEncoderSpec):
                raise SettingError(
                    f"{name} must be the spec of an encoder of sentences, "
                    f"not {getattr(self, name)!r}."
                )
        self._set_validated(weight=real("weight", self.weight, at_least=0, at_most=1))

    @property
    def dim(self) -> int:
        """The features of both."""
        return self.first.dim + self.second.dim

    def build(self) -> TextEncoder:
        """Bring both to life."""
        first, second = self.first.build(), self.second.build()
        shares = np.sqrt(self.weight), np.sqrt(1 - self.weight)

        def encode(sentence: str) -> Array:
            return unit(np.concatenate([shares[0] * first(sentence), shares[1] * second(sentence)]))

        return Remembering(self, encode)
