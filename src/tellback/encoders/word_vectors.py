"""Sentences as the mean of word vectors. Needs the ``language`` extra.

The wheel of wordllama (Miller 2024) contains the token embeddings of a large language model,
trained further for similarity, and their tokenizer. Only these two files are read. The package
is not imported, so it cannot use the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.encoders.pinned import PinnedFile, PinnedPackage
from tellback.encoders.text import CachedEncoder, TextEncoder, TextEncoderSpec, plain_words, unit
from tellback.errors import SettingError, whole
from tellback.extras import from_extra

WHAT = "WordVectors"
PACKAGE = PinnedPackage("wordllama", "0.4.0.post1", "language", WHAT)
WEIGHTS = PinnedFile(
    PACKAGE,
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
TOKENIZER = PinnedFile(
    PACKAGE,
    "tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)
SIZE = 256


@dataclass(frozen=True)
class WordVectors(TextEncoderSpec):
    """The mean of the vectors of a sentence's words: similar meanings have similar vectors.

    Sentences that differ in one important word are close too, such as "a red ball" and "a blue
    ball". To learn from such sentences, use it ``Joined`` with ``NGrams``.

    Parameters
    ----------
    dim : int
        The number of features, at most 256. The first ones carry most of the meaning.
    """

    kind: ClassVar[str] = "word-vectors"

    dim: int = SIZE

    def __post_init__(self) -> None:
        dim = whole("dim", self.dim)
        if dim > SIZE:
            raise SettingError(f"dim must be at most {SIZE}, the size of the vectors, not {dim}.")
        self._set_validated(dim=dim)

    def build(self) -> TextEncoder:
        """Load the vectors, once a process."""
        vectors, tokenizer = _loaded()

        def encode(sentence: str) -> Array:
            rows = tokenizer.encode(" ".join(plain_words(sentence)), add_special_tokens=False).ids
            if not rows:
                return np.zeros(self.dim)
            return unit(vectors[rows, : self.dim].astype(np.float64).mean(axis=0))

        return CachedEncoder(self, encode)


@cache
def _loaded() -> tuple[Any, Any]:
    tokenizers = from_extra(PACKAGE.extra, "tokenizers", WHAT)
    safetensors = from_extra(PACKAGE.extra, "safetensors.numpy", WHAT)
    # They stay in half precision; each sentence converts the rows it uses.
    vectors = safetensors.load(WEIGHTS.read())["embedding.weight"]
    return vectors, tokenizers.Tokenizer.from_str(TOKENIZER.read().decode())
