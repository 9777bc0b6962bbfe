"""Lessons made of a recording."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.learning.recorded import lesson_id, recorded_definition, shown_content
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.settings import Settings
from tellback.classroom.store.active import read_active
from tellback.classroom.store.tasks import find_pictures
from tellback.classroom.web.classroom import Classroom
from tellback.encoders import EfficientNet
from tellback.errors import FieldError, SettingError
from tellback.recordings import RecordedResponse, Recording, Said, teach, write
from tellback.streams import Streams
from tellback.worlds.recorded import Recorded
from tests.support.recordings import small_recording, written
from tests.support.states import same_state


@pytest.fixture
def room(tmp_path: Path) -> Classroom:
    return Classroom(Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False))


def world_of(definition: Definition) -> Recorded:
    assert isinstance(definition.world, Recorded)
    return definition.world


def test_the_recording_has_taught_before_the_first_live_round(
    room: Classroom, tmp_path: Path
) -> None:
    path = written(tmp_path)
    learner = room.learner(room.lesson_from(path, 4, 0.0))
    expected = learner.definition.build()
    world = world_of(learner.definition)
    assert teach(expected, world.recording, world.columns) == learner.agent.learned == 72
    assert same_state(learner.agent.state(), expected.state())
    claimed = learner.claim("you", time.time() + 60)
    assert claimed is not None
    assert claimed.task.round == 73
    shown = claimed.task.texts
    assert shown is not None
    assert len(shown) == 4
    assert all(re.fullmatch(r"pick \w+\ngo \w+\nput \w+ \w+", text) for text in shown)
    given, _ = learner.describe(73, "you", "it moved the mug")
    assert learner.agent.learned == 73
    # People wrote the requests, so no verdict is the truth.
    assert (learner.verdicts.by, given.matched is None) == (JudgedBy.RECORDING, False)
    assert "a person, who may err" in learner.verdicts.says
    room.close()


def test_the_descriptions_of_the_recording_are_no_matches_and_can_be_undone(
    room: Classroom, tmp_path: Path
) -> None:
    lesson = room.lesson_from(written(tmp_path), 4, 0.0)
    with room.database.read() as connection:
        active = list(read_active(connection, lesson))
    assert all(one.saw_request and one.account == "recording" for one in active)
    agent = LessonAgent(room.learner(lesson).definition)
    for one in active:
        agent.add(one)
    assert same_state(agent.state(), room.learner(lesson).agent.state())
    room.close()


def test_the_same_recording_is_the_same_lesson_and_is_imported_once(
    room: Classroom, tmp_path: Path
) -> None:
    path = written(tmp_path)
    first = room.lesson_from(path, 4, 0.0)
    assert re.fullmatch("r-[0-9a-f]{8}", first)
    room.learner(first).claim("you", time.time() + 60)
    assert room.lesson_from(path, 4, 0.0) == first
    assert room.learner(first).agent.learned == 72
    assert room.lesson_from(path, 3, 0.0) != first
    room.close()


def test_a_lesson_that_was_cut_off_before_its_import_is_taught_the_next_time(
    room: Classroom, tmp_path: Path
) -> None:
    path = written(tmp_path)
    definition = recorded_definition(path, 4)
    id = lesson_id(definition, path)
    room.create("r.jsonl", definition, id)
    assert room.lesson_from(path, 4, 0.0) == id
    assert room.learner(id).agent.learned == 72
    room.close()


def test_groups_held_out_neither_teach_nor_are_shown_but_examine(
    room: Classroom, tmp_path: Path
) -> None:
    learner = room.learner(room.lesson_from(written(tmp_path), 4, 1 / 3))
    assert learner.agent.learned == 48
    assert learner.exam.judged
    world = world_of(learner.definition)
    exam_groups = {task.context.group for task in learner.exam.tasks}
    assert len(exam_groups) == 1
    assert not exam_groups & set(world.pool.groups)
    assert not room.learner(room.lesson_from(tmp_path / "r.jsonl", 4, 0.0)).exam.judged
    room.close()


@pytest.mark.parametrize(("edited", "says"), [(True, "has changed"), (False, "r.jsonl")])
def test_a_lesson_whose_recording_is_gone_says_so(
    room: Classroom, tmp_path: Path, edited: bool, says: str
) -> None:
    path = written(tmp_path)
    lesson = room.lesson_from(path, 4, 0.0)
    room.forget(lesson)
    if edited:
        written(tmp_path, small_recording(seed=1))
    else:
        path.unlink()
    with pytest.raises(FieldError, match=says) as caught:
        room.learner(lesson)
    assert caught.value.field == "world"
    room.close()


def test_pictures_are_shown_as_pictures(room: Classroom, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    responses = []
    for i in range(3):
        picture = rng.integers(256, size=(30, 20, 3), dtype=np.uint8)
        Image.fromarray(picture).save(tmp_path / f"{i}.png")
        said = (Said(f"thing {i}", "ann"), Said(f"a thing, number {i}", "ben"))
        responses.append(RecordedResponse(f"{i}", "all", said, image=f"{i}.png"))
    write(tmp_path / "r.jsonl", Recording(tuple(responses), tmp_path))
    lesson = room.lesson_from(tmp_path / "r.jsonl", 3, 0.0)
    learner = room.learner(lesson)
    assert world_of(learner.definition).encoder == EfficientNet()
    claimed = learner.claim("you", time.time() + 60)
    assert claimed is not None
    assert (claimed.task.texts, claimed.task.images) == (None, 3)
    with room.database.read() as connection:
        assert all(png.startswith(b"\x89PNG") for png in find_pictures(connection, lesson, 7))
    room.close()


def test_texts_are_shown_in_the_order_of_the_responses(tmp_path: Path) -> None:
    definition = recorded_definition(written(tmp_path), 4)
    world = world_of(definition)
    task = world.build(np.random.default_rng(0)).world.task(1, (), Streams(0).stream("world").at(1))
    content = shown_content(world, task.context)
    assert content.context == task.context.group
    steps = [world.recording.by_id[id].steps for id in task.context.ids]
    assert content.texts == ["\n".join(" ".join(step) for step in one) for one in steps]


def test_a_recording_with_too_few_responses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="show fewer candidates"):
        recorded_definition(written(tmp_path, small_recording(responses=3)), 5)
