"""Features g(y, s) of recorded responses, by what the recording holds of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.encoders.efficientnet import EfficientNet
from tellback.encoders.encoder import EncoderSpec
from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import TextEncoderSpec, demand_text_encoder
from tellback.errors import SettingError, whole
from tellback.recordings.pictures import RecordedPictures
from tellback.recordings.recording import RecordedResponse, Recording, Step

FEWEST = 5
"""Tokens that occur in fewer responses have no column."""

AGAIN = " #2"
"""Ends the name of the column that says that a token occurred more than once."""


class FeatureRows(NamedTuple):
    """The features of the responses of a recording.

    Attributes
    ----------
    matrix : Array
        The rows that occur, each once.
    row_of : tuple of int
        The row of each response. Two responses with one row look the same to an agent.
    """

    matrix: Array
    row_of: tuple[int, ...]


@dataclass(frozen=True)
class Columns:
    """The columns of the features: numbers, tokens, texts and pictures, those that there are.

    ``Columns.of`` takes them from a recording, without a look at any description. Another
    recording can be given the same columns, so that an agent taught with one can be used with the
    other.

    Parameters
    ----------
    numbers : int
        How many numbers a response has.
    tokens : tuple of str
        The tokens. A response has 1 in the column of a token that occurs in it, else 0.
    order : bool
        Whether the first and the last step with an action count as tokens too.
    text : TextEncoderSpec or None
        Encodes the responses as texts.
    encoder : EncoderSpec, torch module, callable or None
        Encodes the pictures.
    pictures : int
        How many features it gives.
    """

    numbers: int = 0
    tokens: tuple[str, ...] = ()
    order: bool = False
    text: TextEncoderSpec | None = None
    encoder: EncoderSpec | Any = None
    pictures: int = 0

    @classmethod
    def of(
        cls,
        recording: Recording,
        *,
        fewest: int = FEWEST,
        order: bool = False,
        text: TextEncoderSpec | None = None,
        encoder: EncoderSpec | Any = None,
    ) -> Columns:
        """The columns for what a recording holds.

        Parameters
        ----------
        recording : Recording
            The whole of it, not only what is for training: no description is looked at.
        fewest : int
            Tokens that occur in fewer responses are left out.
        order : bool
            Whether the first and the last step with an action count as tokens too.
        text : TextEncoderSpec, optional
            For responses that are texts; by default ``NGrams()``.
        encoder : EncoderSpec, torch module or callable, optional
            For pictures; by default ``EfficientNet()``, which needs the ``pictures`` extra.
        """
        fewest = whole("fewest", fewest)
        if encoder is None and any(one.image for one in recording):
            encoder = EfficientNet()
        counts = Counter(token for one in recording for token in tokens_of(one, order))
        columns = cls(
            numbers=max((len(one.features) for one in recording), default=0),
            tokens=tuple(sorted(token for token, n in counts.items() if n >= fewest)),
            order=order,
            text=(text or NGrams()) if any(one.text for one in recording) else None,
            encoder=encoder,
            pictures=_picture_features(recording, encoder),
        )
        if columns.text is not None:
            demand_text_encoder("text", columns.text)
        if not columns.dim:
            raise SettingError(
                f"No token occurs in {fewest} responses of the recording: set fewest to less."
            )
        return columns

    @property
    def dim(self) -> int:
        """How many columns there are."""
        return self.numbers + len(self.tokens) + self._texts + self.pictures

    @property
    def _texts(self) -> int:
        return self.text.dim if self.text is not None else 0

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each column; that of a token is the token."""
        return (
            *(f"number {i}" for i in range(self.numbers)),
            *self.tokens,
            *(f"text {i}" for i in range(self._texts)),
            *(f"picture {i}" for i in range(self.pictures)),
        )

    def __str__(self) -> str:
        parts = [
            f"{self.numbers} numbers" if self.numbers else "",
            f"{len(self.tokens)} tokens" if self.tokens else "",
            f"{self.text.dim} of the text by {self.text.brief()}" if self.text else "",
            f"{self.pictures} of the picture" if self.pictures else "",
        ]
        return f"{self.dim} features: {', '.join(part for part in parts if part)}"

    def rows(self, recording: Recording) -> FeatureRows:
        """The features of every response of a recording."""
        column = {token: self.numbers + i for i, token in enumerate(self.tokens)}
        encode = self.text.build() if self.text is not None else None
        texts = self.numbers + len(self.tokens)
        pictures = self._pictures(recording)
        rows: list[Array] = []
        by_content: dict[object, int] = {}
        by_bytes: dict[bytes, int] = {}
        index = []
        for i, one in enumerate(recording):
            self._demand_fitting(one)
            present = [column[token] for token in tokens_of(one, self.order) if token in column]
            content = (one.features, frozenset(present), one.text, i if self.pictures else 0)
            if content not in by_content:  # most responses look like an earlier one
                row = np.zeros(self.dim)
                row[: self.numbers] = one.features
                row[present] = 1
                if encode is not None:
                    row[texts : texts + self._texts] = encode(one.text)
                row[self.dim - self.pictures :] = pictures[i]
                by_content[content] = by_bytes.setdefault(row.tobytes(), len(rows))
                if by_content[content] == len(rows):
                    rows.append(row)
            index.append(by_content[content])
        return FeatureRows(np.array(rows).reshape(len(rows), self.dim), tuple(index))

    def _pictures(self, recording: Recording) -> Array:
        if not self.pictures:
            return np.zeros((len(recording), 0))
        encoded = RecordedPictures(recording).encoded(self.encoder)
        if encoded.shape[1] != self.pictures:
            raise SettingError(
                f"The encoder gave {encoded.shape[1]} features of a picture, and "
                f"{self.pictures} before."
            )
        return encoded

    def _demand_fitting(self, one: RecordedResponse) -> None:
        if len(one.features) != self.numbers:
            raise SettingError(
                f"Response {one.id!r} must have {self.numbers} numbers, not {len(one.features)}."
            )
        if bool(one.image) != bool(self.pictures):
            there = "a picture" if one.image else "no picture"
            raise SettingError(f"Response {one.id!r} has {there}, unlike others.")


def tokens_of(response: RecordedResponse, order: bool = False) -> set[str]:
    """The tokens of a response: those of its steps, and those it is given by.

    A step gives its action, each argument, and the action with its arguments. A token that occurs
    again gives another one, once: "two mugs" can be told from "a mug", and three from two cannot.
    """
    counts = Counter(response.tokens)
    for step in response.steps:
        counts.update(step)
        if len(step) > 1:
            counts[" ".join(step)] += 1
    found = set(counts) | {token + AGAIN for token, count in counts.items() if count > 1}
    return found | set(_order_tokens(response.steps)) if order else found


def _order_tokens(steps: tuple[Step, ...]) -> Iterator[str]:
    last = {step[0]: step for step in steps}
    first = {step[0]: step for step in reversed(steps)}
    for name, found in (("first", first), ("last", last)):
        yield from (f"{name} {' '.join(step)}" for step in found.values())


def _picture_features(recording: Recording, encoder: EncoderSpec | Any) -> int:
    pictured = [one for one in recording if one.image]
    if not pictured:
        if encoder is not None:
            raise SettingError(f"The recording has no pictures for the encoder {encoder!r}.")
        return 0
    if isinstance(encoder, EncoderSpec):
        return encoder.dim
    one = Recording((pictured[0],), recording.folder)
    return int(RecordedPictures(one).encoded(encoder).shape[1])
