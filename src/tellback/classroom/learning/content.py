"""Responses that programs bring: as features, as texts, or as pictures."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from tellback.arrays import Array
from tellback.classroom.learning.definition import FEATURES, IMAGES, TEXTS, Definition
from tellback.classroom.turns import Turns
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource, encoder_from
from tellback.encoders.text import TextEncoder, TextEncoderSpec
from tellback.errors import FieldError, SettingError, TellbackError
from tellback.responses import Listed
from tellback.specs import Data

SIDE = 200
"""Pictures are scaled to 200 x 200 pixels before they are encoded."""

LARGEST_PICTURE = 4_000_000  # pixels
MOST_PIXELS = 20_000_000
"""Pixels of all pictures of a task: more would take the service too long."""

DECODING = Turns("Too many pictures are being read: try again in a moment.", pause=True)
LARGEST_FEATURE = 1e12
"""Models refuse larger numbers: their squares leave no digits for others."""


def responses_from(
    definition: Definition,
    features: list[list[float]] | None,
    texts: list[str] | None,
    images: list[str] | None,
    *,
    keep: bool = True,
) -> tuple[Listed, list[bytes] | None]:
    """The responses of a task, and, to ``keep`` them, their pictures as PNG files.

    One of the three is the lesson's kind and must be given. Texts and images may come with
    features too, to be shown to teachers.
    """
    given: dict[str, list[Any] | None] = {FEATURES: features, TEXTS: texts, IMAGES: images}
    wanted = given[definition.candidates]
    if not wanted:
        raise FieldError(
            definition.candidates,
            f"{definition.candidates} must be given: this lesson's responses come as that.",
        )
    for name, others in given.items():
        if others is not None and len(others) != len(wanted):
            raise FieldError(
                name, f"{name} must have an entry for each of {len(wanted)} responses."
            )
    if features is not None and definition.candidates != FEATURES:
        raise FieldError("features", f"features come from the {definition.candidates} here.")
    pictures = shown = None
    if images is not None:
        with DECODING:
            pictures = pictures_from(images)
            shown = [png_of(picture) for picture in pictures] if keep else None
    if definition.candidates == TEXTS:
        assert texts is not None
        encode = _text_encoder(definition.encoder)
        return Listed([encode(text) for text in texts]), shown
    if definition.candidates == IMAGES:
        assert pictures is not None
        return Listed(picture_encoder(definition.encoder)(np.array(pictures))), shown
    return listed_from(features, definition.facts.dim), shown


def listed_from(features: Any, dim: int) -> Listed:
    """Responses from their features; an error names what is wrong."""
    try:
        matrix = np.array(features, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise FieldError(FEATURES, f"features must have {dim} numbers a response.") from error
    if matrix.ndim != 2 or matrix.shape[1] != dim:
        raise FieldError(FEATURES, f"features must have {dim} numbers a response.")
    try:
        listed = Listed(matrix)
    except SettingError as error:
        raise FieldError(FEATURES, str(error)) from error
    if np.abs(matrix).max() > LARGEST_FEATURE:
        raise FieldError(
            FEATURES, f"features must be from {-LARGEST_FEATURE:g} to {LARGEST_FEATURE:g}."
        )
    return listed


def features_from(data: bytes, dim: int) -> Array:
    """The features of a round, from the store's bytes."""
    return np.frombuffer(data, dtype="<f8").reshape(-1, dim)


def pictures_from(encoded: list[str]) -> list[Pictures]:
    """Pictures of 200 x 200 pixels from files in base 64.

    Their sizes are looked at first: too large ones are not decoded.
    """
    files = [_file_of(one) for one in encoded]
    pixels = sum(map(_pixels, files))
    if pixels > MOST_PIXELS:
        raise FieldError(
            IMAGES,
            f"images must have at most {MOST_PIXELS:,} pixels together, not {pixels:,}: scale them "
            f"down, for all are scaled to {SIDE} x {SIDE}.",
        )
    return [_decoded(file) for file in files]


def picture_from(encoded: str) -> Pictures:
    """A picture of 200 x 200 pixels from a file in base 64."""
    return pictures_from([encoded])[0]


def _file_of(encoded: str) -> bytes:
    with readable():
        return base64.b64decode(encoded.removeprefix("data:image/png;base64,"), validate=True)


def _pixels(file: bytes) -> int:
    with readable(), opened_picture(file) as image:
        return image.width * image.height


def _decoded(file: bytes) -> Pictures:
    with readable(), opened_picture(file) as image:
        plain = image.convert("RGB")
        if plain.size != (SIDE, SIDE):
            plain = plain.resize((SIDE, SIDE), Image.Resampling.BOX)
        return np.asarray(plain, dtype=np.uint8)


def opened_picture(file: bytes, largest: int = LARGEST_PICTURE) -> Image.Image:
    """A picture of which nothing is decoded yet; an error if its first bytes say it is large."""
    image = Image.open(io.BytesIO(file), formats=("PNG", "JPEG", "WEBP"))
    if image.width * image.height > largest:
        raise FieldError(IMAGES, f"images must have at most {largest:,} pixels.")
    return image


@contextmanager
def readable() -> Iterator[None]:
    """Name the field if a file cannot be read."""
    try:
        yield
    except (binascii.Error, UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        if isinstance(error, TellbackError):
            raise
        raise FieldError(IMAGES, "images must be PNG, JPEG or WebP files in base 64.") from error
    except Image.DecompressionBombError as error:
        raise FieldError(IMAGES, "images are too large.") from error


def png_of(picture: Pictures) -> bytes:
    """A picture as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=1)
    return file.getvalue()


class _NoGallery:
    """No pictures to train an encoder with."""

    def draw(self, count: int, rng: np.random.Generator) -> Pictures:
        raise SettingError("An encoder that must be trained cannot be used in a lesson.")

    def to_data(self) -> Data:
        raise SettingError("An encoder that must be trained cannot be used in a lesson.")


@lru_cache(32)
def _text_encoder(spec: TextEncoderSpec) -> TextEncoder:
    return spec.build()


@lru_cache(32)
def picture_encoder(spec: EncoderSpec) -> Encoder:
    """An encoder that needs no training."""
    gallery: PictureSource = _NoGallery()
    return encoder_from(spec, gallery)
