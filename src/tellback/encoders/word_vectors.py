"""Sentences as the mean of word vectors. Needs the ``language`` extra.

The wheel of wordllama (Miller 2024) contains the token embeddings of a large language model,
trained further for similarity, and their tokenizer. Only these two files are read. The package
is not imported, so it cannot use the network.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.encoders.text import CachedEncoder, TextEncoder, TextEncoderSpec, plain_words, unit
from tellback.errors import SettingError, TellbackError, whole
from tellback.extras import from_extra, install_command

PACKAGE = "wordllama"
RELEASE = "0.4.0.post1"
SIZE = 256


class Pinned(NamedTuple):
    """A file of the package, and the SHA-256 that its content must have."""

    path: str
    sha256: str


WEIGHTS = Pinned(
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
TOKENIZER = Pinned(
    "tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)


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
    what = "WordVectors"
    tokenizers = from_extra("language", "tokenizers", what)
    safetensors = from_extra("language", "safetensors.numpy", what)
    folder = _folder()
    # They stay in half precision; each sentence converts the rows it uses.
    vectors = safetensors.load(_content(folder, WEIGHTS))["embedding.weight"]
    return vectors, tokenizers.Tokenizer.from_str(_content(folder, TOKENIZER).decode())


def _folder() -> Path:
    """Where the package is installed, without importing it."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise TellbackError(
            f"WordVectors needs {PACKAGE}: install tellback with its language extra, "
            f"{install_command('language')}."
        )
    return Path(found.origin).parent


def _content(folder: Path, pinned: Pinned) -> bytes:
    """The bytes of a file; an error if its SHA-256 is another."""
    path = folder / pinned.path
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TellbackError(
            f"WordVectors needs {path}, which {PACKAGE} {RELEASE} has: {error}."
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != pinned.sha256:
        raise TellbackError(
            f"{path} has the SHA-256 {found}, and not that of {PACKAGE} {RELEASE}, "
            f"{pinned.sha256}: other vectors would give other results."
        )
    return content
