"""Lessons of one's own material: what is asked, what is held out, and what is shown."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tellback.classroom.learning import collecting
from tellback.classroom.learning.background_jobs import BackgroundJobs
from tellback.classroom.learning.collecting import OwnResponse, collect
from tellback.classroom.learning.held_out import FEWEST
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.learning.material import Candidates
from tellback.classroom.learning.own_files import pictures_in, texts_in
from tellback.classroom.store.active import read_active
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.descriptions import withdraw
from tellback.classroom.store.held_out import read_held_out
from tellback.classroom.store.items import Item
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Kind, read_events, writing
from tellback.classroom.store.progress import curve
from tellback.classroom.store.rounds import ANYTHING, RoundPart, event_data, find_round
from tellback.encoders.thumbnail import Thumbnail
from tellback.errors import FieldError, SettingError
from tellback.recordings import RecordedResponse
from tests.support.own_material import chores, noise, own_learner, taught
from tests.support.photographs import written
from tests.support.states import same_state


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = open_database(f"sqlite:///{tmp_path}/lessons.db")
    yield found
    found.close()


def parts(learner: Learner, database: Database, rounds: int) -> list[str | None]:
    with database.read() as connection:
        return [find_round(connection, learner.lesson, n).part for n in range(1, rounds + 1)]


def test_what_is_held_out_is_not_taught_and_asks_in_the_exam(database: Database) -> None:
    learner = own_learner(database)
    taught(learner, 50)
    of = parts(learner, database, 50)
    held = of.count(RoundPart.EXAM.value)
    assert FEWEST <= held < 25
    assert learner.agent.learned == 50 - held
    with database.read() as connection:
        requests = read_held_out(connection, learner.lesson, 100)
        by_oracle = LessonAgent(learner.definition)
        for one in read_active(connection, learner.lesson):
            assert of[one.round - 1] != RoundPart.EXAM.value
            by_oracle.add(one)
    assert len(requests) == held
    assert same_state(learner.agent.state(), by_oracle.state())
    assert learner.examined()[1].requests == held
    assert [task.instruction for task in learner.exam.tasks] == [
        one.description for one in requests
    ]


def test_which_rounds_are_held_out_is_settled_before_anybody_speaks(
    database: Database, tmp_path: Path
) -> None:
    learner = own_learner(database)
    other = open_database(f"sqlite:///{tmp_path}/other.db")
    silent = own_learner(other)
    taught(learner, 20)
    for _ in range(20):
        silent.ask_from_world("robot")
    exam = RoundPart.EXAM.value
    of = [
        [part == exam for part in parts(*one, 20)] for one in ((learner, database), (silent, other))
    ]
    other.close()
    assert of[0] == of[1]


def test_the_response_of_a_held_out_round_is_drawn_and_not_chosen(database: Database) -> None:
    learner = own_learner(database, held_out=1.0)
    taught(learner, 40)
    with database.read() as connection:
        asked = [
            event_data(connection, learner.lesson, find_round(connection, learner.lesson, n).asked)
            for n in range(1, 41)
        ]
    assert {one["instruction"] for one in asked} == {ANYTHING}
    assert {one["propensity"] for one in asked} == {0.2}
    assert {one["response"] for one in asked} == set(range(5))
    assert learner.agent.learned == 0


def test_requests_are_what_was_said_of_items_that_are_not_shown(database: Database) -> None:
    learner = own_learner(database, held_out=0.0)
    taught(learner, 30)
    with database.read() as connection:
        events = list(read_events(connection, learner.lesson, kinds=[Kind.ASKED, Kind.DESCRIBED]))
    said: list[str] = []
    for event in events:
        if event.kind is Kind.ASKED:
            request = event.data["instruction"]
            assert request in said or event.data["part"] == RoundPart.FIRST.value
        else:
            said.append(event.data["description"])
    assert len(set(said)) > 12  # and not the first ones again and again


def test_an_agent_that_is_taught_does_better_in_its_exam(database: Database) -> None:
    learner = own_learner(database)
    taught(learner, 90)
    jobs = BackgroundJobs(database, lambda _: learner)
    jobs._do_jobs(learner)
    with database.read() as connection:
        points = curve(connection, learner.lesson)
    assert points[0].described == 1  # the curve was made up for
    assert points[-1].described == learner.agent.learned
    assert points[-1].right / points[-1].requests > 0.8
    assert points[-1].right > points[0].right
    assert all(point.requests >= FEWEST for point in points)


def test_there_is_no_curve_before_enough_is_held_out(database: Database) -> None:
    learner = own_learner(database)
    taught(learner, 12)
    assert learner.right() is None
    BackgroundJobs(database, lambda _: learner)._do_jobs(learner)
    with database.read() as connection:
        assert curve(connection, learner.lesson) == []


def test_descriptions_that_came_with_it_teach_but_for_those_held_out(database: Database) -> None:
    learner = own_learner(database, described=True)
    point = learner.examined()[1]
    assert (learner.agent.learned, point.requests) == (30, 10)
    assert point.right >= 7


def test_a_lesson_is_the_same_when_it_is_opened_again(database: Database) -> None:
    learner = own_learner(database)
    taught(learner, 30)
    with database.read() as connection:
        again = Learner(database, find_lesson(connection, learner.lesson))
    assert same_state(learner.agent.state(), again.agent.state())
    assert learner.examined() == again.examined()


def test_taking_back_a_held_out_description_takes_its_request_out_of_the_exam(
    database: Database,
) -> None:
    learner = own_learner(database, held_out=1.0)
    taught(learner, FEWEST)
    assert learner.examined()[1].requests == FEWEST
    with writing(database, learner.lesson) as log:
        withdraw(log, 3, "ann", 0.0, anyones=False)
    learner.catch_up()
    assert learner.examined()[1].requests == 0


def test_items_of_one_goal_or_one_look_are_not_shown_together() -> None:
    items = [Item("", goal, "") for goal in ("a", "a", "b", "", "")]
    features = np.array([[0.0], [1], [2], [3], [3]], dtype="f4")
    draws = [Candidates(items, features, 5).draw(np.random.default_rng(i)) for i in range(50)]
    assert all(not {0, 1} <= set(one) and not {3, 4} <= set(one) for one in draws)
    assert {len(one) for one in draws} == {3}
    with pytest.raises(FieldError, match="two responses that differ"):
        Candidates(items[:2], features[:2], 5)


# --- collecting -------------------------------------------------------------------------------


def files(*seeds: int, size: tuple[int, int] = (24, 24)) -> OwnResponse:
    def made(seed: int) -> bytes:
        file = io.BytesIO()
        Image.fromarray(noise(seed)).resize(size).save(file, "PNG")
        return file.getvalue()

    recorded = RecordedResponse(f"{seeds}", "own", ())
    return OwnResponse(recorded, [lambda seed=seed: made(seed) for seed in seeds])  # type: ignore[misc]


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "usual_encoder", Thumbnail)


@pytest.mark.usefixtures("plain")
def test_pictures_are_shown_as_squares_and_frames_as_a_strip() -> None:
    pictures = collect([files(1), files(2, size=(40, 20))])
    assert (pictures.material.form, pictures.material.seen_by) == ("pictures", "thumbnail")
    strips = collect([files(1, 2, 3), files(4, 5)])
    assert strips.material.form == "strips"
    assert strips.features.shape[1] == 2 * pictures.features.shape[1]
    sizes = [Image.open(io.BytesIO(one.picture or b"")).size for one in strips.items]
    assert sizes == [(488, 160), (324, 160)]


@pytest.mark.usefixtures("plain")
def test_the_same_frames_in_another_order_look_different() -> None:
    forward, backward = collect([files(1, 2, 3), files(3, 2, 1)]).features
    assert not np.allclose(forward, backward)


def test_too_much_is_refused_before_anything_is_opened() -> None:
    def never() -> bytes:
        raise AssertionError("a file was opened")

    recorded = [RecordedResponse(str(i), "own", ()) for i in range(201)]
    for responses, says in (
        ([OwnResponse(one, [never] * 10) for one in recorded], "2,000 pictures, not 2,010"),
        ([OwnResponse(one, [never] * 13) for one in recorded[:2]], "12 frames"),
        ([OwnResponse(recorded[0], [never]), *chores()], "all responses have a picture, or none"),
        (chores()[:1], "at least two"),
    ):
        with pytest.raises(FieldError, match=says):
            collect(responses)


@pytest.mark.usefixtures("plain")
def test_a_picture_that_says_it_is_huge_is_not_decoded() -> None:
    file = io.BytesIO()
    Image.new("1", (9000, 9000)).save(file, "PNG")
    huge = OwnResponse(RecordedResponse("huge", "own", ()), [file.getvalue])
    with pytest.raises(FieldError, match="at most 4,000,000 pixels"):
        collect([files(1), huge])
    other = OwnResponse(RecordedResponse("other", "own", ()), [lambda: b"GIF89a..."])
    with pytest.raises(FieldError, match="PNG, JPEG or WebP"):
        collect([files(1), other])


def test_pictures_of_a_folder_are_found_and_other_files_are_not(tmp_path: Path) -> None:
    written(tmp_path / "holiday" / "day 1", 3)
    written(tmp_path / "holiday" / "day 2", 2)
    (tmp_path / "holiday" / "notes.txt").write_text("no picture")
    (tmp_path / "holiday" / ".hidden.jpg").write_bytes(b"")
    assert [len(one.files) for one in pictures_in(tmp_path / "holiday")] == [1] * 5
    assert [len(one.files) for one in pictures_in(tmp_path / "holiday", frames=True)] == [3, 2]
    (tmp_path / "empty").mkdir()
    for folder, says in (("none", "no folder"), ("empty", "no picture in a folder of its own")):
        with pytest.raises(SettingError, match=says):
            pictures_in(tmp_path / folder, frames=True)


def test_texts_come_from_any_table_with_a_column_of_that_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text\nfirst\n"second,\nof two lines"\n')
    assert [one.recorded.text for one in texts_in(path)] == ["first", "second,\nof two lines"]
    path.write_text("price,text,description,image\n3,tea,hot,/etc/passwd\n4,milk,,\n")
    found = [one.recorded for one in texts_in(path)]
    assert [(one.text, one.image, len(one.descriptions)) for one in found] == [
        ("tea", "", 1),
        ("milk", "", 0),
    ]
    path.write_text("sentence\nany name will do\n")
    assert texts_in(path)[0].recorded.text == "any name will do"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SettingError, match=r"Line 1 of a\.csv: The column 'text' is missing"):
        texts_in(path)
