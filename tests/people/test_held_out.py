"""What a seed holds out, and how exams ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Task
from tellback.arrays import Array
from tellback.errors import UnknownNameError
from tellback.people.exam import answers, questions, success
from tellback.people.held_out import BOTH, EXAMS, MOST_GROUPS, PEOPLE, ROOMS, HeldOut, untuned
from tellback.worlds import Recorded
from tests.support.recordings import small_recording, written

TUNED = ("room 0", "room 3")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    recording = small_recording(rooms=12, responses=12, people=20, each=4)
    return Recorded(str(written(tmp_path_factory.mktemp("people"), recording)), candidates=4)


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_training_has_no_group_and_no_person_of_an_exam(world: Recorded, seed: int) -> None:
    held_out = HeldOut.draw(world, (4, 10), TUNED, seed)
    training = held_out.training()
    examined = held_out.rooms[4] | held_out.rooms[10]
    assert not examined & set(training.groups)
    assert not examined & set(TUNED)
    assert len(held_out.rooms[4]) == 3  # a third of the 10 that are not tuned on
    assert len(held_out.people) == 2
    heard = {person for entry in training.entries for person in entry.people}
    assert not heard & held_out.people


@given(seed=st.integers(0, 1000))
@settings(max_examples=5)
def test_exams_are_of_the_rooms_and_people_that_their_names_say(world: Recorded, seed: int) -> None:
    held_out = HeldOut.draw(world, (4,), TUNED, seed)
    trained = set(held_out.training().groups) - set(TUNED)
    for name in EXAMS:
        pool, askers = held_out.exam(name, 4) or (None, None)
        assert pool is not None
        assert set(pool.groups) <= (trained if name == PEOPLE else held_out.rooms[4])
        for question in questions(held_out, name, 4, 20, seed):
            sentence = str(question.task.instruction)
            person = next(
                entry.people[entry.texts.index(sentence)]
                for entry in pool.entries
                if sentence in entry.texts
            )
            assert (person in held_out.people) == (name in (PEOPLE, BOTH))
            assert askers is not None
            assert person in askers


def test_the_target_is_what_the_instruction_was_written_about(world: Recorded) -> None:
    held_out = HeldOut.draw(world, (4,), (), 1)
    pool, _ = held_out.exam(ROOMS, 4) or (None, None)
    assert pool is not None
    for question in questions(held_out, ROOMS, 4, 30, 1):
        asked, told = str(question.task.instruction), question.said[question.target]
        features = question.task.responses.matrix[question.target]
        entries = [
            one
            for one in pool.entries
            if asked in one.texts and (world.rows.matrix[one.row] == features).all()
        ]  # somebody may have said the same in two rooms
        assert any(
            told in one.texts
            and one.people[one.texts.index(told)] != one.people[one.texts.index(asked)]
            for one in entries
        )
        assert question.task.context is None  # which would tell


def test_everybody_has_the_same_questions_and_another_seed_has_others(world: Recorded) -> None:
    def instructions(seed: int) -> list[object]:
        held_out = HeldOut.draw(world, (4,), TUNED, seed)
        return [one.task.instruction for one in questions(held_out, ROOMS, 4, 10, seed)]

    assert instructions(0) == instructions(0)
    assert instructions(0) != instructions(1)


def test_ties_share_the_point(world: Recorded) -> None:
    asked = questions(HeldOut.draw(world, (4,), TUNED, 0), ROOMS, 4, 40, 0)

    def share(right: float, wrong: float) -> float:
        def score(tasks: Sequence[Task]) -> Iterator[Array]:
            for question, _ in zip(asked, tasks, strict=True):
                yield np.where(np.arange(4) == question.target, right, wrong)

        return success(answers(asked, score))

    assert share(0.5, 0.5) == 0.25
    assert share(1.0, 0.0) == 1.0
    assert share(0.0, 1.0) == 0.0


def test_few_people_are_all_heard_and_nobody_is_examined(tmp_path: Path) -> None:
    file = written(tmp_path, small_recording(rooms=6, people=3, each=2))
    held_out = HeldOut.draw(Recorded(str(file), candidates=3), (3,), (), 0)
    assert held_out.heard is None
    assert questions(held_out, PEOPLE, 3, 5, 0) == []
    assert len(questions(held_out, ROOMS, 3, 5, 0)) == 5


def test_an_unknown_group_has_the_nearest_name(world: Recorded) -> None:
    with pytest.raises(UnknownNameError, match=r"'room 12'\. Did you mean 'room 2'"):
        untuned(world, 4, ("room 12",))
    assert untuned(world, 4, TUNED) == set(world.recording.groups) - set(TUNED)
    assert untuned(world, 33, ()) == frozenset()
    assert len(HeldOut.draw(world, (4,), (), 0).rooms[4]) == 4 < MOST_GROUPS
