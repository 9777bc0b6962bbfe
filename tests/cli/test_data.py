"""``tellback data``: recordings checked and converted on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tellback.recordings import read
from tellback.worlds import Recorded
from tests.support.command import command
from tests.support.recordings import alfred_data, line, lines_file, small_recording, written


def test_a_sound_file_is_summed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, small_recording(rooms=5, responses=16))
    assert command("data check r.jsonl --candidates 6", tmp_path, monkeypatch) == 0
    said = capsys.readouterr().out
    assert "r.jsonl: no faults" in said
    assert "80 in 5 groups" in said
    assert "240 by 6 people, and 0 by people not named" in said
    assert "240 described (--steps)" in said
    assert "5 of 5 groups have 6 that differ" in said


def test_faults_have_line_numbers_and_end_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines_file(tmp_path / "r.jsonl", line(), "{", line(id="b", group=3))
    assert command("data check r.jsonl", tmp_path, monkeypatch) == 1
    assert [text.split(": ")[0] for text in capsys.readouterr().err.splitlines()] == [
        "Line 2 of r.jsonl",
        "Line 3 of r.jsonl",
        "2 faults.",
    ]
    assert command("data check r.jsonl --json", tmp_path, monkeypatch) == 1
    data = json.loads(capsys.readouterr().out)
    assert [fault["where"] for fault in data["faults"]] == [
        "Line 2 of r.jsonl",
        "Line 3 of r.jsonl",
    ]


def test_a_summary_is_data_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = small_recording(rooms=3, responses=8)
    written(tmp_path, recording)
    assert command("data check r.jsonl --steps --json", tmp_path, monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["responses"] == 72
    assert data["sha256"] == Recorded(str(tmp_path / "r.jsonl"), level="steps").sha256
    assert data["faults"] == []


def test_a_recording_too_small_or_of_pictures_is_summed_up_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines_file(tmp_path / "r.jsonl", line())
    assert command("data check r.jsonl", tmp_path, monkeypatch) == 0
    said = capsys.readouterr().out
    assert "No token occurs in 5 responses" in said
    assert "0 of 1 groups have 5" in said
    (tmp_path / "p.png").write_bytes(b"p")
    lines_file(tmp_path / "r.jsonl", line(image="p.png"))
    assert command("data check r.jsonl", tmp_path, monkeypatch) == 0
    assert "by the encoder that you choose" in capsys.readouterr().out


def test_a_recording_in_alfreds_layout_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "traj_data.json").write_text(json.dumps(alfred_data()))
    assert command("data convert trial r.jsonl.gz", tmp_path, monkeypatch) == 0
    assert "1 responses" in capsys.readouterr().out
    assert read(tmp_path / "r.jsonl.gz") == read(tmp_path / "trial")
    assert command("data convert trial s.jsonl --steps --json", tmp_path, monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["responses"] == 2
    assert read(tmp_path / "s.jsonl") == read(tmp_path / "trial", level="steps")


def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.txt").write_text("x")
    for words in ("data check gone.jsonl", "data check r.txt", "data convert r.txt s.jsonl"):
        assert command(words, tmp_path, monkeypatch) == 2
        said = capsys.readouterr().err
        assert said.startswith("tellback: ")
        assert "Traceback" not in said
    assert not (tmp_path / "s.jsonl").exists()


def test_agents_play_in_a_recording_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    words = "run recorded --set path=r.jsonl --set fewest=1 --set candidates=3 --agent uniform"
    more = " --rounds 20 --seeds 1 --on inline --json"
    assert command(words + more, tmp_path, monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["world"]["sha256"] == small_recording().digest
