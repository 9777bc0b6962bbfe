"""``tellback people`` and the study file on people's sentences, on made-up recordings."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tellback.recordings import Recording
from tests.support.command import command
from tests.support.recordings import small_recording, written

STUDY = Path(__file__).parents[2] / "examples" / "people.toml"


def test_the_benchmark_on_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tuple(
        replace(one, step_descriptions=())
        for one in small_recording(rooms=8, responses=12, people=10, each=4)
    )
    written(tmp_path, Recording(whole))
    (tmp_path / "tuned.txt").write_text("room 0\n")
    words = (
        "people r.jsonl --candidates 5 --seeds 0-1 --scale 0.02 --on inline --tuned-on tuned.txt"
    )
    assert command(words, tmp_path, monkeypatch) == 0
    said = capsys.readouterr()
    assert "Success in unseen groups" in said.out
    assert "minutes of CPU time" in said.err
    assert (tmp_path / "results/people/report.html").exists()
    assert command(f"{words} --json", tmp_path, monkeypatch) == 0
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert "8 of 8" in said.err or "8 runs" in said.err
    assert data["tuned_on"] == ["room 0"]
    [bar] = data["bars"]
    [line] = [
        one
        for one in data["success"]
        if (one["exam"], one["learner"], one["descriptions"])
        == ("unseen groups", "recommended", 100)
    ]
    assert bar["success"] == line["success"]
    assert bar["reached"] == (line["success"]["mean"] >= 0.8)
    assert line["success"]["n"] == 2


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--tuned-on tuned.txt", "There is no group to tune on named 'room 99'"),
        ("--candidates 40", "fewer than 3 groups with 40"),
        ("--candidates 3 --seeds 3", "seeds must be two or more"),
        ("--scale 2", "scale must be"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    words: str,
    error: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    written(tmp_path, small_recording(rooms=4))
    (tmp_path / "tuned.txt").write_text("room 99\n")
    assert command(f"people r.jsonl {words}", tmp_path, monkeypatch) == 2
    assert error in " ".join(capsys.readouterr().err.split())


def test_the_study_file_runs_on_a_recording_with_its_rooms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = STUDY.read_text()
    tuned = tomllib.loads(text)["worlds"]["ALFRED"]["tuned_on"]
    rooms = [*tuned, "untuned 1", "untuned 2"]
    recording = small_recording(rooms=len(rooms), responses=6)
    named = tuple(
        replace(one, group=rooms[int(one.group.split()[1])]) for one in recording.responses
    )
    (tmp_path / "alfred").mkdir()
    written(tmp_path / "alfred", Recording(named), "train.jsonl.gz")
    short = re.sub(r"rounds = \d+", "rounds = 20", text).replace('"0-19"', '"0-2"')
    (tmp_path / "people.toml").write_text(short)
    assert command("study run people.toml --on inline", tmp_path, monkeypatch) == 0
    said = capsys.readouterr().out
    for agent in ("recommended", "LORIL, ridge", "random"):
        assert agent in said
