"""The promises of an encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tellback.conformance.report import Check
from tellback.encoders import TextEncoderSpec
from tellback.encoders.encoder import encoder_from
from tellback.worlds.pictures import Gallery

PICTURES = 6
SENTENCES = (
    "a red circle",
    "the blue square on the left",
    "",
    "Ein gruener Kreis!",
    "a red circle",
)
CLOSE = 1e-5  # single precision, summed in another order


def encoder_checks(thing: Any) -> Iterator[tuple[str, Check]]:
    """The promises of an encoder of pictures: a spec, a torch module or a function."""
    gallery = Gallery(("circle", "square"), ("red", "blue"), "jitter")
    pictures = gallery.draw(PICTURES, np.random.default_rng(0))
    made: list[Any] = []

    def encodes() -> str:
        made.append(encoder_from(thing, gallery))
        made[0](pictures)  # refuses what is not a row of numbers for each picture
        return ""

    def repeats() -> str:
        same = np.array_equal(made[0](pictures), made[0](pictures))
        return "" if same else "asked twice, it gave other features"

    def alone() -> str:
        together, single = made[0](pictures)[2], made[0](pictures[2:3])[0]
        if np.allclose(together, single, rtol=CLOSE, atol=CLOSE):
            return ""
        return "the features of a picture depend on the pictures beside it"

    def leaves() -> str:
        given = pictures.copy()
        made[0](given)
        return "" if np.array_equal(given, pictures) else "it wrote into the pictures"

    yield "it gives a row of numbers for each picture", encodes
    yield from _once_made(made, repeats, alone, leaves)


def _once_made(made: list[Any], *checks: Callable[[], str]) -> Iterator[tuple[str, Check]]:
    promises = (
        "the same picture has the same features",
        "a picture has the same features alone as among others",
        "it leaves the pictures as they are",
    )
    for promise, check in zip(promises, checks, strict=True):
        if made:
            yield promise, check


def text_encoder_checks(spec: TextEncoderSpec) -> Iterator[tuple[str, Check]]:
    """The promises of an encoder of sentences."""
    made: list[Any] = []

    def encodes() -> str:
        made.append(spec.build())
        for sentence in SENTENCES:
            vector = np.asarray(made[0](sentence))
            if vector.shape != (spec.dim,) or not np.isfinite(vector).all():
                return f"{sentence!r} has a vector of shape {vector.shape}, not ({spec.dim},)"
        return ""

    def repeats() -> str:
        same = np.array_equal(made[0](SENTENCES[0]), spec.build()(SENTENCES[-1]))
        return "" if same else "made anew, it gave the same sentence another vector"

    yield "it gives every sentence a vector of its size", encodes
    if made:
        yield "the same sentence has the same vector", repeats
