"""Which descriptions are doubtful, and an agent that leaves them out."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.careless import CarelessTeacher
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.demonstration import demonstration
from tellback.classroom.learning.doubts import WEIGHED_AT, Doubts, weigh, weighed_count
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.active import ActiveDescription
from tellback.classroom.store.database import Database
from tellback.classroom.store.descriptions import describe, withdraw
from tellback.classroom.store.log import writing
from tellback.classroom.store.tasks import Content
from tellback.errors import FieldError
from tellback.matching import Same
from tellback.models.model import Model
from tellback.responses import Listed
from tellback.roles import Choice
from tests.support.classroom_lessons import SENTENCES, new_lesson
from tests.support.states import same_state

WORDS = ("went left", "went right", "stood still")
PLACES = np.eye(3)


def _model() -> Model:
    return SENTENCES.build().model


def _said(careless: set[int], count: int, account: str = "ann") -> list[ActiveDescription]:
    """Descriptions of three places in turn; the careless ones name the next place."""
    return [
        ActiveDescription(
            number,
            number,
            "go",
            Choice(0, PLACES[number % 3]),
            WORDS[(number + (number in careless)) % 3],
            account=account,
        )
        for number in range(count)
    ]


def careless_lesson(database: Database, learner: Learner, careless: set[int], count: int) -> None:
    for _ in range(count):
        number = len(learner.agent.active) + 1
        place = PLACES[number % 3][None, :]
        asked = learner.ask("go", Listed(place), Content(), "robot")
        said = WORDS[(number + (number in careless)) % 3]
        with writing(database, learner.lesson) as log:
            describe(log, asked.number, "ann", said, Same(), anyones=True)
        learner.catch_up()


def test_descriptions_of_another_response_are_doubtful_and_the_others_are_not() -> None:
    careless = {9, 17, 22, 31}
    found = weigh(_model, _said(careless, 48))
    assert found.left_out == careless
    assert 0.05 < found.wrong["ann"] < 0.25


def test_a_careless_teacher_is_told_from_a_careful_one() -> None:
    careful = _said(set(), 24, "ann")
    others = [one._replace(seq=one.seq + 100) for one in _said(set(range(0, 24, 2)), 24, "bob")]
    found = weigh(_model, careful + others)
    assert found.wrong["bob"] > 3 * found.wrong["ann"]
    # So the same surprise is believed of the one, and not of the other.
    assert found.right_at(-0.5, "ann") > found.right_at(-0.5, "bob")


def test_who_was_asked_and_stands_by_a_description_is_believed_more() -> None:
    said = _said({4, 9}, 24)
    before = weigh(_model, said).right[4]
    after = weigh(_model, [one._replace(sure=one.seq == 4) for one in said]).right[4]
    assert after > before


def test_a_model_that_knows_nothing_doubts_nothing() -> None:
    rng = np.random.default_rng(0)
    said = [
        one._replace(choice=Choice(0, rng.normal(size=3)), description=f"thing {one.seq}")
        for one in _said(set(), 32)
    ]
    found = weigh(_model, said)
    assert found.left_out == frozenset()
    assert min(found.right.values()) > 0.5


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_no_more_is_left_out_than_is_probably_wrong_and_never_more_than_half(share: float) -> None:
    rng = np.random.default_rng(1)
    careless = set(rng.permutation(32)[: round(32 * share)].tolist())
    found = weigh(_model, _said(careless, 32))
    wrong = found.wrong["ann"]
    assert len(found.left_out) <= min(16, 32 * wrong + np.sqrt(32 * wrong * (1 - wrong)))


@pytest.mark.parametrize("seed", [100, 101])
def test_few_right_descriptions_are_left_out_if_a_quarter_is_wrong_and_nobody_answers(
    database: Database, seed: int
) -> None:
    definition = replace(demonstration("pictures", seed), doubt="weigh")
    learner = Learner(database, new_lesson(database, definition))
    teacher = CarelessTeacher(definition, slips=0.25, honest=0.0)
    for _ in range(32):
        claimed = learner.claim("ann", time.time() + 600)
        assert claimed is not None
        round = claimed.task.round
        scene = learner.agent.world_task(round).context
        learner.describe(round, "ann", teacher.describe(round, scene, claimed.response))
        left_out = learner.agent.left_out
        right = [
            number
            for number, event in learner.agent.active.items()
            if event in left_out and number not in teacher.wrong
        ]
        assert len(right) <= 6  # of about 24


def test_nothing_is_doubted_before_the_first_weighing() -> None:
    assert weighed_count(WEIGHED_AT[0] - 1) == 0
    assert weighed_count(10_000) == WEIGHED_AT[-1]
    assert Doubts({}, {}).right_at(0.0, "ann") > 0.5


def test_an_agent_that_leaves_out_is_rebuilt_from_the_log_to_the_last_bit(
    database: Database,
) -> None:
    lesson = new_lesson(database, replace(SENTENCES, doubt="weigh"))
    learner = Learner(database, lesson)
    careless_lesson(database, learner, {17, 22, 27}, 32)
    left_out = learner.agent.left_out
    assert len(left_out) == 3
    assert learner.agent.learned == 29

    def rebuilt() -> Learner:
        again = Learner(database, lesson)
        assert same_state(again.agent.state(), learner.agent.state())
        assert again.agent.left_out == learner.agent.left_out
        return again

    rebuilt()
    learner.keep_checkpoint()
    careless_lesson(database, rebuilt(), {38}, 8)  # another learner, from a checkpoint
    learner.catch_up()
    rebuilt()
    before = learner.agent.state()
    more = Learner(database, lesson)
    careless_lesson(database, more, set(), 9)
    for number in range(49, 40, -1):
        with writing(database, lesson.id) as log:
            withdraw(log, number, "ann", time.time() + 9, anyones=False)
    learner.catch_up()
    assert same_state(learner.agent.state(), before)  # what is undone has changed no weight


def test_doubt_is_a_setting_for_words() -> None:
    assert SENTENCES.doubt == "ask"
    assert Definition(dim=3, instructions=4).doubt == "off"
    with pytest.raises(FieldError, match="for descriptions in words"):
        Definition(dim=3, instructions=4, doubt="weigh")
    with pytest.raises(FieldError, match="doubt"):
        replace(SENTENCES, doubt="sometimes")
