"""The pictures of a recording."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.encoders.encoder import EncoderSpec, Pictures, encoder_from
from tellback.errors import SettingError
from tellback.extras import from_extra
from tellback.recordings.recording import Recording
from tellback.specs import Data

BATCH = 32


def load_picture(path: Path) -> Pictures:
    """A picture in a file, of shape (height, width, 3), in any format that Pillow reads."""
    image = from_extra("pictures", "PIL.Image", "Reading a picture")
    try:
        with image.open(path) as opened:
            picture: Pictures = np.asarray(opened.convert("RGB"), dtype=np.uint8)
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise SettingError(f"The picture {path} cannot be read: {error}.") from error
    return picture


class RecordedPictures:
    """The pictures of a recording, for an encoder to be trained on and to encode.

    Parameters
    ----------
    recording : Recording
        Every response of it has a picture.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._paths = [recording.picture_path(response) for response in recording]

    def draw(self, count: int, rng: np.random.Generator) -> Pictures:
        """Some of the pictures, drawn with replacement; they must have one size."""
        drawn = [load_picture(self._paths[i]) for i in rng.integers(len(self._paths), size=count)]
        shapes = {picture.shape for picture in drawn}
        if len(shapes) > 1:
            raise SettingError(
                "An encoder is trained on pictures of one size, and those of the recording have "
                f"several, such as {sorted(shapes)[:2]}."
            )
        return np.array(drawn)

    def to_data(self) -> Data:
        """What determines the pictures."""
        return {"kind": "recorded", "sha256": self._recording.digest}

    def encoded(self, encoder: EncoderSpec | Any) -> Array:
        """The features of all pictures, a row each."""
        encode = encoder_from(encoder, self)
        return np.concatenate([encode(batch) for batch in self._batches()])

    def _batches(self) -> Iterator[Pictures]:
        """The pictures in order; those next to each other go together if they have one size."""
        loaded = map(load_picture, self._paths)
        for _, alike in groupby(loaded, key=np.shape):
            while batch := list(islice(alike, BATCH)):
                yield np.array(batch)
