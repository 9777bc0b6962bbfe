"""The paper's ten templates, in the mouth of the teacher and in the truth."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback import Listed, Task
from tellback.errors import SettingError
from tellback.models.words import Vocabulary
from tellback.roles import Instruction
from tellback.streams import Stream
from tellback.worlds import images as module
from tellback.worlds.images import Scene
from tellback.worlds.pictures import Shape
from tests.support.image_worlds import (
    COLOURS,
    OBJECTS,
    OF_A_RED_SQUARE,
    SMALL,
    TYPES,
    begun,
    probability,
    rewards_of,
    said_of,
)

WITHOUT_TYPE, WITHOUT_COLOUR = 7, 8


ALL_SENTENCES = sorted({sentence for thing in OBJECTS for sentence in said_of(*thing)})


def asking(sentence: Instruction, *things: tuple[str, str]) -> Task:
    """A task that shows some objects."""
    scene = Scene(tuple(Shape(*thing) for thing in things))
    return Task(scene, sentence, Listed(np.eye(len(things))))


# What is said


def test_the_teacher_says_the_ten_sentences_of_the_paper_and_no_other() -> None:
    teacher, stream = begun().teacher, Stream(0, "teacher")
    context = asking("", ("square", "red")).context
    told = {teacher.describe(context, 0, stream.at(t)) for t in range(500)}
    assert told == set(OF_A_RED_SQUARE)


def test_the_vocabulary_has_the_34_words_of_the_paper() -> None:
    teacher, stream = begun().teacher, Stream(1, "teacher")
    context = asking("", *OBJECTS).context
    vocabulary, told = Vocabulary(), set()
    for y in range(32):
        for t in range(200):
            sentence = teacher.describe(context, y, stream.at(t))
            assert isinstance(sentence, str)
            told.add(sentence)
            vocabulary.learn(sentence)
    assert told == set(ALL_SENTENCES)
    assert len(vocabulary) == 34, "with the marks of beginning and end"


def test_every_sentence_has_the_probability_that_counting_gives() -> None:
    simulation = begun()
    totals = np.zeros(32)
    for sentence in ALL_SENTENCES:
        rewards = rewards_of(simulation, asking(sentence, *OBJECTS))
        assert rewards == [probability(sentence, *thing) for thing in OBJECTS]
        totals += rewards
    np.testing.assert_allclose(totals, 1, rtol=1e-14)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(TYPES), min_size=1, unique=True),
    st.lists(st.sampled_from(COLOURS), min_size=1, unique=True),
)
def test_probabilities_are_those_of_counting_whatever_the_objects(
    types: list[str], colours: list[str]
) -> None:
    names: dict[str, object] = {"responses": 1, "types": types, "colours": colours}
    truth = module.ImagesTruth(SMALL.with_settings(names).gallery)
    here = list(product(types, colours))
    for thing in here:
        for sentence in said_of(*thing):
            rewards = [truth.reward(asking(sentence, *here), y) for y in range(len(here))]
            assert rewards == [probability(sentence, *other) for other in here]


def test_only_the_eighth_and_the_ninth_template_fit_several_objects() -> None:
    simulation = begun()
    for kind, colour in OBJECTS:
        for i, sentence in enumerate(said_of(kind, colour)):
            rewards = rewards_of(simulation, asking(sentence, *OBJECTS))
            fitting = [thing for thing, p in zip(OBJECTS, rewards, strict=True) if p > 0]
            if i == WITHOUT_TYPE:
                assert fitting == [thing for thing in OBJECTS if thing[1] == colour]
                assert len(fitting) == 4
            elif i == WITHOUT_COLOUR:
                assert fitting == [thing for thing in OBJECTS if thing[0] == kind]
                assert len(fitting) == 8
            else:
                assert fitting == [(kind, colour)]


def test_the_teacher_describes_as_often_as_the_truth_says() -> None:
    simulation, stream = begun(), Stream(2, "teacher")
    shown = [("circle", "cyan"), ("square", "red"), ("triangle", "red"), ("circle", "grey")]
    task = asking("", *shown)
    for y in range(len(shown)):
        told = Counter(
            str(simulation.teacher.describe(task.context, y, stream.at(t))) for t in range(5000)
        )
        chances = [rewards_of(simulation, asking(x, *shown))[y] for x in ALL_SENTENCES]
        possible = [(x, p) for x, p in zip(ALL_SENTENCES, chances, strict=True) if p > 0]
        assert set(told) <= {x for x, _ in possible}, "what cannot be said never is"
        observed = [told[x] for x, _ in possible]
        expected = np.array([5000 * p for _, p in possible])
        assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_the_teacher_draws_the_edges_of_the_unit_interval_too() -> None:
    class Fixed:
        def __init__(self, u: float) -> None:
            self.u = u

        def random(self) -> float:
            return self.u

    teacher: Any = begun().teacher
    context = asking("", ("square", "red")).context
    assert teacher.describe(context, 0, Fixed(0.0)) == OF_A_RED_SQUARE[0]
    assert teacher.describe(context, 0, Fixed(1 - 2**-53)) == OF_A_RED_SQUARE[-1]


@pytest.mark.parametrize(
    "sentence",
    ["", "A red", "a red square", "A red square.", "A pink square", "A red circle", 3],
)
def test_a_sentence_that_is_never_said_has_no_reward(sentence: Instruction) -> None:
    simulation = begun()
    assert simulation.truth is not None
    task = asking(sentence, ("square", "red"), ("circle", "blue"))
    assert rewards_of(simulation, task) == [0, 0]
    assert simulation.truth.best(task) == 0


@pytest.mark.parametrize("response", [-1, 2, 32])
def test_a_response_that_is_not_shown_is_refused(response: int) -> None:
    simulation = begun()
    assert simulation.truth is not None
    task = asking("A red square", ("square", "red"), ("circle", "blue"))
    with pytest.raises(SettingError, match=f"from 0 to 1, not {response}"):
        simulation.truth.reward(task, response)
    with pytest.raises(SettingError, match=f"from 0 to 1, not {response}"):
        simulation.teacher.describe(task.context, response, np.random.default_rng(0))
