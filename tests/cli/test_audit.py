"""``tellback audit`` as it is typed."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tellback.audit.answers import read_answers
from tellback.recordings import read
from tests.support.audits import audited, case, described
from tests.support.command import command
from tests.support.patience import PATIENCE
from tests.support.recordings import small_recording, written

Typed = Callable[..., int]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Run the command on a recording with wrong descriptions; lines are what is typed in it."""
    written(tmp_path, case().recording)

    def run(words: str, *lines: str, terminal: bool = True) -> int:
        rest = iter(lines)

        def answer(prompt: str) -> str:
            try:
                return next(rest)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal, raising=False)
        monkeypatch.setattr("builtins.input", answer)
        return command(f"audit r.jsonl {words}", tmp_path, monkeypatch)

    return run


def test_it_says_how_many_are_wrong_which_and_why(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("--worst 3") == 0
    said = capsys.readouterr().out
    assert "wrong         about 2" in said
    assert "nobody was asked, so there is no interval that holds" in said
    assert said.count("right with probability 0.") == 3
    assert "of the same group better" in said


def test_people_are_asked_and_their_answers_are_saved_at_once(
    typed: Typed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = audited().questions(4)
    assert typed("--ask 4", "y", "what?", "", "no", "s", "q") == 0
    said = capsys.readouterr().out
    assert "1 of 4." in said
    assert "4 of 4." in said
    assert first[0].said.text in said
    assert "3: 1 right, 1 wrong, 1 skipped" in said
    answers = read_answers(tmp_path / "r.jsonl.answers.jsonl", case().recording)
    assert answers == {first[0].place: True, first[1].place: False, first[2].place: None}
    assert typed("--budget 1%", *"yyyyyyyyyyyyyyyy") == 0  # of 720: 7, and 3 are answered
    answers = read_answers(tmp_path / "r.jsonl.answers.jsonl", case().recording)
    assert len(answers) == 7
    assert "by 1 asked at random" in capsys.readouterr().out


def test_the_cleaned_recording_is_written_and_the_share_still_wrong_stated(
    typed: Typed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("--questions q.jsonl --ask 200") == 0
    capsys.readouterr()
    lines = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    assert len(lines) == 200
    for one in lines:
        one["right"] = (one["response"], one["number"]) not in case().wrong
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert typed("--answers a.jsonl --out clean.jsonl --json", terminal=False) == 0
    data = json.loads(capsys.readouterr().out)
    cleaned = read(tmp_path / "clean.jsonl")
    kept = sum(len(one.descriptions) for one in cleaned)
    assert kept == data["still_wrong"]["kept"]
    assert data["told"]
    assert data["answers"]["right"] + data["answers"]["wrong"] == 200
    right = {(one.id, said) for one in described() for said in one.descriptions}
    wrong = sum((one.id, said) not in right for one in cleaned for said in one.descriptions)
    assert data["still_wrong"]["low"] <= wrong / kept <= data["still_wrong"]["high"] < 0.2
    assert len(data["worst"]) == 5
    assert data["worst"][0]["reasons"]


def test_without_a_terminal_nobody_is_asked(
    typed: Typed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("--ask 3", "y", terminal=False) == 0
    assert "no terminal" in capsys.readouterr().err
    assert not (tmp_path / "r.jsonl.answers.jsonl").exists()


def test_a_lesson_is_written_and_its_answers_are_used(
    typed: Typed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("--lesson l.jsonl --ask 2") == 0
    rounds = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    events = [
        {"kind": kind, "round": i, "data": data}
        for i, (one, told) in enumerate(zip(rounds, ("yes", "hm"), strict=True), start=1)
        for kind, data in (
            ("asked", {"instruction": one["instruction"]}),
            ("described", {"description": told}),
        )
    ]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    capsys.readouterr()
    assert typed("--taught e.jsonl") == 0
    both = capsys.readouterr()
    assert "1: 1 right" in both.out
    assert "neither yes nor no, such as 'hm'" in both.err


def test_what_is_wrong_is_said_in_a_line(
    typed: Typed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, says in (
        ("--budget much", "budget must be a share such as 10%"),
        ("--budget 200%", "budget must be"),
        ("--answers none.jsonl", "There is no file none.jsonl"),
        ("--out r.jsonl", "another file"),
        ("--sure 3", "sure must be"),
    ):
        assert typed(words) == 2
        assert says in capsys.readouterr().err
    (tmp_path / "bad.jsonl").write_text('{"response": 1}\n')
    assert typed("--answers bad.jsonl") == 2
    assert "Line 1 of bad.jsonl: response must be" in capsys.readouterr().err
    before = (tmp_path / "r.jsonl").read_bytes()
    assert before == (tmp_path / "r.jsonl").read_bytes()


def test_a_small_recording_is_said_to_tell_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, small_recording(), "s.jsonl")
    assert command("audit s.jsonl --steps", tmp_path, monkeypatch) == 0
    assert command("audit s.jsonl", tmp_path, monkeypatch) == 0
    assert "nothing can be told by the words" in capsys.readouterr().out


def test_answers_survive_a_kill_and_the_next_command_goes_on(tmp_path: Path) -> None:
    written(tmp_path, case().recording)
    outside, inside = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tellback", "audit", "r.jsonl", "--ask", "9"],
        cwd=tmp_path, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
    )  # fmt: skip
    os.close(inside)
    try:
        for i in range(3):
            _read_until(outside, f"{i + 1} of 9.", "s, q? ")
            os.write(outside, b"n\n")
        _read_until(outside, "4 of 9.", "s, q? ")
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(outside)
    answers = read_answers(tmp_path / "r.jsonl.answers.jsonl", case().recording)
    assert list(answers) == [one.place for one in audited().questions(3)]
    assert set(answers.values()) == {False}


def _read_until(terminal: int, *parts: str) -> None:
    seen = ""
    for part in parts:
        while part not in seen:
            seen += os.read(terminal, 4096).decode(errors="replace")  # may end within a character
        seen = seen.split(part, 1)[1]
