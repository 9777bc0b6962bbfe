"""Pictures that programs send.

This module imports little: pictures are read by a process beside the service.
"""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from tellback.errors import FieldError, TellbackError

Picture = NDArray[np.uint8]
IMAGES = "images"
SIDE = 200
"""Pictures are scaled to 200 x 200 pixels before they are encoded."""

LARGEST_PICTURE = 4_000_000  # pixels
MOST_PIXELS = 20_000_000
"""Pixels of all pictures of a task: more would take the service too long."""


def read_pictures(encoded: list[str], keep: bool) -> tuple[list[Picture], list[bytes] | None]:
    """Pictures from files in base 64, and, to ``keep`` them, as PNG files."""
    pictures = pictures_from(encoded)
    return pictures, [png_of(one) for one in pictures] if keep else None


def pictures_from(encoded: list[str]) -> list[Picture]:
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


def picture_from(encoded: str) -> Picture:
    """A picture of 200 x 200 pixels from a file in base 64."""
    return pictures_from([encoded])[0]


def _file_of(encoded: str) -> bytes:
    with readable():
        return base64.b64decode(encoded.removeprefix("data:image/png;base64,"), validate=True)


def _pixels(file: bytes) -> int:
    with readable(), opened_picture(file) as image:
        return image.width * image.height


def _decoded(file: bytes) -> Picture:
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


def png_of(picture: Picture) -> bytes:
    """A picture as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=1)
    return file.getvalue()


def squared(file: bytes, side: int, largest: int) -> tuple[Picture, int]:
    """A picture in a square of this side, and how many pixels it had."""
    with readable(), opened_picture(file, largest) as image:
        pixels = image.width * image.height
        image.draft("RGB", (2 * side, 2 * side))  # of a JPEG, fewer pixels are decoded
        plain = ImageOps.contain(ImageOps.exif_transpose(image).convert("RGB"), (side, side))
        square = Image.new("RGB", (side, side), "white")
        square.paste(plain, ((side - plain.width) // 2, (side - plain.height) // 2))
        return np.asarray(square, dtype=np.uint8), pixels
