"""Encoders that break a promise are found out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

import numpy as np
import pytest

from tellback import check
from tellback.encoders import (
    EncoderSpec,
    Joined,
    NGrams,
    ShapeAndColour,
    TextEncoderSpec,
    Thumbnail,
)
from tellback.encoders.encoder import Pictures
from tests.support.oracles import Floats


@pytest.mark.parametrize("spec", [Thumbnail(), ShapeAndColour()], ids=repr)
def test_encoders_of_pictures_pass(spec: EncoderSpec) -> None:
    report = check(spec)
    assert report, str(report)
    assert report.role == "encoder of pictures"


@pytest.mark.parametrize("spec", [NGrams(dim=32), Joined(NGrams(dim=8), NGrams(dim=16))], ids=repr)
def test_encoders_of_sentences_pass(spec: TextEncoderSpec) -> None:
    report = check(spec)
    assert report, str(report)
    assert report.role == "encoder of sentences"


def mean_colour(pictures: Pictures) -> Floats:
    colours: Floats = pictures.mean(axis=(1, 2))
    return colours


def brightest_of_all(pictures: Pictures) -> Floats:
    return mean_colour(pictures) / float(pictures.mean())


def overwriting(pictures: Pictures) -> Floats:
    colours = mean_colour(pictures)
    pictures[:] = 0
    return colours


class Restless:
    calls = 0

    def __call__(self, pictures: Pictures) -> Floats:
        self.calls += 1
        return mean_colour(pictures) + self.calls


def test_a_function_of_pictures_is_an_encoder_too() -> None:
    assert check(mean_colour), str(check(mean_colour))


@pytest.mark.parametrize(
    ("encode", "trouble"),
    [
        (brightest_of_all, "alone as among others: they differ"),
        (overwriting, "use a copy"),
        (Restless(), "asked again, it gave others"),
        (lambda pictures: np.full((len(pictures), 2), np.nan), "not all numbers"),
        (lambda pictures: pictures.mean(), "row of numbers"),
    ],
)
def test_a_broken_promise_is_named(encode: Any, trouble: str) -> None:
    report = check(encode)
    assert not report
    assert trouble in str(report)


CALLS = count()


@dataclass(frozen=True)
class Words(TextEncoderSpec):
    abstract: ClassVar[bool] = True
    fault: str = ""

    @property
    def dim(self) -> int:
        return 4 if self.fault == "dim" else 3

    def build(self) -> Any:
        def encode(sentence: str) -> Floats:
            vector: Floats = np.eye(3)[len(sentence) % 3] * bool(sentence)
            if self.fault == "length":
                return 2 * vector
            return np.roll(vector, next(CALLS)) if self.fault == "restless" else vector

        return encode


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [("dim", "dim is 4"), ("length", "has length 2"), ("restless", "got another vector")],
)
def test_a_broken_promise_of_an_encoder_of_sentences_is_named(fault: str, trouble: str) -> None:
    assert check(Words())
    assert trouble in str(check(Words(fault)))
