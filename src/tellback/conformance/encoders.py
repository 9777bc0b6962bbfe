"""The promises of encoders of pictures and of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.conformance.report import Check
from tellback.encoders import EncoderSpec, Thumbnail
from tellback.encoders.encoder import Pictures, encoder_from
from tellback.encoders.text import TextEncoderSpec
from tellback.worlds import Images

PICTURES = 5
SENTENCES = ("", "Red!", "a small red square", "a small red square", "ein kleines rotes Quadrat")
SAME = 1e-5
"""How far features may differ by the order of sums, relative to the largest."""


def picture_encoder_checks(thing: Any) -> Iterator[tuple[str, Check]]:
    """The promises of an encoder of pictures: a spec, a torch module or another callable."""
    trial = _PictureTrial(thing)
    yield "it gives a row of finite numbers for each picture", trial.gives_rows
    if isinstance(thing, EncoderSpec):
        yield "it gives as many features as its dim says", trial.dim_is_true
    yield "the same pictures have the same features", trial.repeats_itself
    yield "a picture has the same features alone as among others", trial.takes_one_by_one
    yield "it leaves the pictures as they are", trial.leaves_pictures


def text_encoder_checks(spec: TextEncoderSpec) -> Iterator[tuple[str, Check]]:
    """The promises of an encoder of sentences."""
    trial = _TextTrial(spec)
    yield "it gives a vector as long as its dim says", trial.dim_is_true
    yield "its vectors are finite, of length 1, or zeros without a word", trial.vectors_are_units
    yield "the same sentence has the same vector, also when made anew", trial.repeats_itself


class _PictureTrial:
    def __init__(self, thing: Any) -> None:
        self._thing = thing
        self._gallery = Images(encoder=Thumbnail()).gallery
        self._pictures: Pictures = self._gallery.draw(PICTURES, np.random.default_rng(0))

    @cached_property
    def _encode(self) -> Callable[[Pictures], Array]:
        return encoder_from(self._thing, self._gallery)

    @cached_property
    def _features(self) -> Array:
        return self._encode(self._pictures.copy())

    def gives_rows(self) -> Iterator[str]:
        if not len(self._features):  # encoder_from refuses the rest
            yield "it gave nothing"

    def dim_is_true(self) -> Iterator[str]:
        given = self._features.shape[1]
        if given != self._thing.dim:
            yield f"dim is {self._thing.dim}, and it gave {given}"

    def repeats_itself(self) -> Iterator[str]:
        again = self._encode(self._pictures.copy())
        if not np.array_equal(again, self._features):
            yield "asked again, it gave others"

    def takes_one_by_one(self) -> Iterator[str]:
        alone = np.vstack([self._encode(one[None].copy()) for one in self._pictures])
        off = float(np.abs(alone - self._features).max())
        within = SAME * max(float(np.abs(self._features).max()), 1e-300)
        if not off <= within:  # nor is NaN
            yield f"they differ by up to {off:.3g}"

    def leaves_pictures(self) -> Iterator[str]:
        given = self._pictures.copy()
        self._encode(given)
        if not np.array_equal(given, self._pictures):
            yield "it changed a picture: use a copy"


class _TextTrial:
    def __init__(self, spec: TextEncoderSpec) -> None:
        self._spec = spec

    @cached_property
    def _vectors(self) -> list[Array]:
        encode = self._spec.build()
        return [np.array(encode(sentence)) for sentence in SENTENCES]

    def dim_is_true(self) -> Iterator[str]:
        for sentence, vector in zip(SENTENCES, self._vectors, strict=True):
            if vector.shape != (self._spec.dim,):
                yield f"dim is {self._spec.dim}, and {sentence!r} has shape {vector.shape}"

    def vectors_are_units(self) -> Iterator[str]:
        for sentence, vector in zip(SENTENCES, self._vectors, strict=True):
            length = float(np.linalg.norm(vector))
            wanted = (0.0, 1.0) if sentence else (0.0,)
            if not any(abs(length - one) <= SAME for one in wanted):  # NaN is near nothing
                yield f"the vector of {sentence!r} has length {length:.6g}"

    def repeats_itself(self) -> Iterator[str]:
        encode = self._spec.build()
        for sentence, vector in zip(SENTENCES, self._vectors, strict=True):
            if not np.array_equal(encode(sentence), vector):
                yield f"{sentence!r} got another vector"
