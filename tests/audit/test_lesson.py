"""Questions of an audit as a lesson in the classroom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tellback.audit.lesson import read_lesson, shown, write_lesson
from tellback.encoders import NGrams
from tellback.errors import SettingError
from tellback.recordings import RecordedResponse
from tests.support.api_room import Room, client_of, room
from tests.support.audits import audited

__all__ = ["room"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('audit') / 'classroom.db'}"


def test_a_lesson_asks_the_questions_and_its_export_has_the_answers(
    room: Room, tmp_path: Path
) -> None:
    found = audited()
    asked = found.questions(4)
    write_lesson(tmp_path / "questions.jsonl", asked, found.recording)
    with client_of(room) as there:
        lesson = there.create_lesson("audit", candidates="texts", encoder=NGrams())
        assert lesson.import_(tmp_path / "questions.jsonl")["rounds"] == 4
        for number, typed in enumerate(("Yes, it is.", "no", "hm, what?"), start=1):
            claim = room.done("POST", f"/lessons/{lesson.id}/claims", room.ann)
            assert claim["round"] == number
            assert asked[number - 1].said.text in claim["context"]
            path = f"/lessons/{lesson.id}/rounds/{number}/description"
            room.done("PUT", path, room.ann, json={"description": typed})
        lesson.export(tmp_path / "lesson.jsonl")
    told = read_lesson(tmp_path / "lesson.jsonl", found.recording)
    assert told.answers == {asked[0].place: True, asked[1].place: False}
    assert told.unclear == ("hm, what?",)


def test_withdrawn_answers_do_not_count_and_unknown_lessons_are_refused(tmp_path: Path) -> None:
    found = audited()
    place = found.sentences.places[0]
    path = tmp_path / "lesson.jsonl"

    def lesson(*events: object) -> Path:
        path.write_text("".join(json.dumps(one) + "\n" for one in events))
        return path

    asked = {"kind": "asked", "round": 1, "data": {"instruction": str(place)}}
    yes = {"kind": "described", "round": 1, "data": {"description": "yes"}}
    back = {"kind": "withdrawn", "round": 1, "data": {}}
    unable = {"kind": "cannot_tell", "round": 1, "data": {}}
    assert read_lesson(lesson(asked, yes), found.recording).answers == {place: True}
    assert read_lesson(lesson(asked, yes, back), found.recording).answers == {}
    assert read_lesson(lesson(asked, unable), found.recording).answers == {place: None}
    with pytest.raises(SettingError, match=r"Line 3 .*rolled back"):
        read_lesson(lesson(asked, yes, {"kind": "rolled_back"}), found.recording)
    for text in ("go left", "nowhere #1", f"{place.response} #9", f"{place.response} #-1"):
        other = {"kind": "asked", "round": 1, "data": {"instruction": text}}
        with pytest.raises(SettingError, match="Line 1 "):
            read_lesson(lesson(other), found.recording)
    path.write_text("no JSON")
    with pytest.raises(SettingError, match="Line 1 "):
        read_lesson(path, found.recording)


def test_a_response_is_shown_by_all_that_is_known_of_it() -> None:
    response = RecordedResponse(
        "a", "", (), features=(1.5, 2), steps=(("take", "mug"), ("go",)), tokens=("x",), text="hi"
    )
    assert shown(response) == "hi | take mug; go | x | 1.5 2"
