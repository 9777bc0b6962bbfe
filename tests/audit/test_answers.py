"""Answers in files: none is lost, and wrong ones are refused with their line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tellback.audit import Place
from tellback.audit.answers import AnswerFile, read_answers, write_questions
from tellback.errors import TellbackError
from tests.support.audits import audited, described

ONE, OTHER = (Place(described().responses[i].id, 1) for i in (0, 7))


def line(place: Place = ONE, **changes: object) -> str:
    text = described().by_id[place.response].descriptions[place.number].text
    data = {"response": place.response, "number": place.number, "text": text, "right": True}
    return json.dumps({**data, **changes})


def test_answers_are_read_back_and_later_ones_replace_earlier_ones(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with AnswerFile(path, described()) as file:
        file.add(ONE, True)
        file.add(OTHER, None)
    with AnswerFile(path, described()) as file:
        assert file.answers == {ONE: True, OTHER: None}
        file.add(ONE, False)
    assert read_answers(path, described()) == {ONE: False, OTHER: None}


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_the_rest_of_a_killed_line_is_passed_over_and_overwritten(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(line() + "\n" + line(OTHER)[:-cut])
    assert read_answers(path, described()) == {ONE: True}
    with AnswerFile(path, described()) as file:
        file.add(OTHER, False)
    assert read_answers(path, described()) == {ONE: True, OTHER: False}
    assert len(path.read_text().splitlines()) == 2


def test_a_last_line_without_an_end_counts_if_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(line())
    with AnswerFile(path, described()) as file:
        file.add(OTHER, False)
    assert read_answers(path, described()) == {ONE: True, OTHER: False}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("{", "not JSON"),
        ("[1]", "must be an object"),
        ("[" * 100_000, "not JSON"),
        (line(response=3), "response must be"),
        (line(response="nowhere"), "no response 'nowhere'"),
        (line(number=3), "from 0 to 2"),
        (line(number=-1), "from 0 to 2"),
        (line(number=True), "from 0 to 2"),
        (line(text="something else"), "another recording"),
        (line(right="yes"), "true, false or null"),
        (line(right=1), "true, false or null"),
        ("\xff", "not JSON"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(tmp_path: Path, wrong: str, says: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{line()}\n{wrong}\n{line(OTHER)}\n")
    with pytest.raises(TellbackError, match=f"Line 2 of answers.jsonl.*{says}"):
        read_answers(path, described())
    before = path.read_bytes()
    with pytest.raises(TellbackError):
        AnswerFile(path, described())
    assert path.read_bytes() == before


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(line().encode() + b"\n\xff\xfe\n" + line().encode() + b"\n")
    with pytest.raises(TellbackError, match=r"Line 2 .*UTF-8"):
        read_answers(path, described())


def test_questions_are_answered_by_adding_right(tmp_path: Path) -> None:
    found = audited()
    path = tmp_path / "questions.jsonl"
    write_questions(path, found.questions(6), found.recording)
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    assert [Place(one["response"], one["number"]) for one in lines] == [
        one.place for one in found.questions(6)
    ]
    assert all("descriptions" not in one["shown"] for one in lines)
    assert read_answers(path, found.recording) == {}  # nobody has answered
    for one, right in zip(lines, (True, False, None), strict=False):
        one["right"] = right
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    answers = read_answers(path, found.recording)
    assert list(answers.values()) == [True, False, None]
    assert len(found.answer(answers).answers) == 3
