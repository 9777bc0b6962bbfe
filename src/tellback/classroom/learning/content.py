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
    kind = definition.candidates
    wanted = given[kind]
    if wanted is None:
        came = [name for name, value in given.items() if value is not None]
        instead = f", and {came[0]} can only accompany them" if came else ""
        raise FieldError(
            kind, f"{kind} must be given: this lesson's responses are {kind}{instead}."
        )
    if not len(wanted):
        raise FieldError(kind, f"{kind} must have at least one entry, one for each response.")
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
        raise _wrong_length(features, dim) from error
    if matrix.ndim != 2 or matrix.shape[1] != dim:
        raise _wrong_length(features, dim)
    try:
        listed = Listed(matrix)
    except SettingError as error:
        raise FieldError(FEATURES, str(error)) from error
    if np.abs(matrix).max() > LARGEST_FEATURE:
        row, column = np.argwhere(np.abs(matrix) > LARGEST_FEATURE)[0].tolist()
        where = f"{FEATURES}.{row}.{column}"
        raise FieldError(
            where,
            f"{where} must be from {-LARGEST_FEATURE:g} to {LARGEST_FEATURE:g}, "
            f"not {matrix[row, column]:g}.",
        )
    return listed


def _wrong_length(features: Any, dim: int) -> FieldError:
    """The error for features of which some response has more or fewer numbers than it must."""
    for row, numbers in enumerate(features):
        if not hasattr(numbers, "__len__") or len(numbers) != dim:
            has = f", not {len(numbers)}" if hasattr(numbers, "__len__") else ""
            where = f"{FEATURES}.{row}"
            return FieldError(where, f"{where} must have {dim} numbers{has}.")
    return FieldError(FEATURES, f"features must have {dim} numbers a response.")


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
