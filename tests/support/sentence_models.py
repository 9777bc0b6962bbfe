"""Small models of sentences, and lessons for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellback import Facts, Listed
from tellback.encoders import Thumbnail
from tellback.models import Sentence
from tellback.models.sentence import SentenceModel
from tellback.roles import State
from tellback.worlds import Images

Floats = NDArray[np.float64]
Lesson = tuple[Floats, str]
WORLD = Images(encoder=Thumbnail(2))
DIM = 3
SAID = (
    "A red square",
    "There is a red square.",
    "A blue circle",
    "There is a blue circle.",
    "It is blue, and round",
)


def new_model(seed: int = 0, dim: int = DIM, **changes: Any) -> SentenceModel:
    spec = Sentence(**{"hidden": 6, "embedding": 5, "vocabulary": 20, "steps": 0, **changes})
    return spec.build(Facts(dim, None), np.random.default_rng(seed))


def some_lessons(number: int, seed: int = 0, responses: int = 4) -> list[Lesson]:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((responses, DIM))
    return [
        (features[rng.integers(responses)], SAID[rng.integers(len(SAID))]) for _ in range(number)
    ]


def teach(model: SentenceModel, lessons: list[Lesson]) -> SentenceModel:
    for features, sentence in lessons:
        model.learn(features, sentence)
    return model


def taught(lessons: list[Lesson], **changes: Any) -> SentenceModel:
    return teach(new_model(**changes), lessons)


def some_responses(number: int = 6, dim: int = DIM) -> Listed:
    return Listed(np.random.default_rng(99).standard_normal((number, dim)))


def estimated(model: SentenceModel, said: tuple[str, ...] = SAID) -> Floats:
    responses = some_responses()
    return np.array([model.estimates(sentence, responses) for sentence in said])


def assert_same_state(one: State, other: State) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
        assert np.asarray(value).dtype == np.asarray(other[name]).dtype, name
