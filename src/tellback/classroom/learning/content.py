"""Responses that programs bring: as features, as texts, or as pictures."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.classroom.learning.definition import FEATURES, IMAGES, TEXTS, Definition
from tellback.classroom.learning.pictures import read_pictures
from tellback.classroom.side_process import FOR_REQUESTS, SideProcess
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource, encoder_from
from tellback.encoders.text import TextEncoder, TextEncoderSpec
from tellback.errors import FieldError, SettingError
from tellback.responses import Listed
from tellback.specs import Data

LARGEST_FEATURE = 1e12
"""Models refuse larger numbers: their squares leave no digits for others."""


def responses_from(
    definition: Definition,
    features: list[list[float]] | None,
    texts: list[str] | None,
    images: list[str] | None,
    *,
    keep: bool = True,
    read: SideProcess = FOR_REQUESTS,
) -> tuple[Listed, list[bytes] | None]:
    """The responses of a task, and, to ``keep`` them, their pictures as PNG files.

    One of the three is the lesson's kind and must be given. Texts and images may come with
    features too, to be shown to teachers. ``features`` may be an array.
    """
    given: dict[str, list[Any] | None] = {FEATURES: features, TEXTS: texts, IMAGES: images}
    wanted = given[definition.candidates]
    if wanted is None or not len(wanted):
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
        pictures, shown = read(read_pictures, images, keep)
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
