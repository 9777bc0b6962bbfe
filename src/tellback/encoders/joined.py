"""Two encoders of sentences, their features side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tellback.arrays import Array
from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import (
    CachedEncoder,
    TextEncoder,
    TextEncoderSpec,
    demand_text_encoder,
    unit,
)
from tellback.encoders.word_vectors import WordVectors
from tellback.specs import Fraction


@dataclass(frozen=True)
class Joined(TextEncoderSpec):
    """The features of two encoders in one vector.

    By default n-grams, which separate "red" from "blue", and word vectors, which let
    descriptions with "red" help with "crimson". The cosine of two sentences is the weighted
    mean of their cosines under each.

    Parameters
    ----------
    first, second : TextEncoderSpec
        The encoders.
    weight : float
        The share of the first in the squared length.
    """

    first: TextEncoderSpec = field(default_factory=NGrams)
    second: TextEncoderSpec = field(default_factory=WordVectors)
    weight: Fraction = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        demand_text_encoder("first", self.first)
        demand_text_encoder("second", self.second)

    @property
    def dim(self) -> int:
        """The features of both."""
        return self.first.dim + self.second.dim

    def build(self) -> TextEncoder:
        """Build both."""
        first, second = self.first.build(), self.second.build()
        scales = np.sqrt(self.weight), np.sqrt(1 - self.weight)

        def encode(sentence: str) -> Array:
            return unit(np.concatenate([scales[0] * first(sentence), scales[1] * second(sentence)]))

        return CachedEncoder(self, encode)
