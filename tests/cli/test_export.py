"""``tellback data export`` of logs, recordings and lessons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tellback.agents import Uniform
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import open_database
from tellback.off_policy import Log
from tellback.recordings import RecordedResponse, Recording, Said, read, write
from tellback.worlds import Synthetic
from tests.support.classroom_lessons import new_lesson, taught
from tests.support.command import command

WORLD = Synthetic(instructions=5, responses=3, rank=2)


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_log_becomes_messages_and_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log.played(WORLD, Uniform(), rounds=7)
    log.save(tmp_path / "log.jsonl")
    assert command("data export log.jsonl chat.jsonl", tmp_path, monkeypatch) == 0
    assert capsys.readouterr().out == "chat.jsonl: 7 examples\n"
    messages = [line["messages"] for line in lines_of(tmp_path / "chat.jsonl")]
    assert [one[-2]["content"] for one in messages] == [str(x) for x in log.descriptions]
    assert [one[-1]["content"] for one in messages] == [f"response {y}" for y in log.responses]
    assert command("data export log.jsonl r.jsonl --as recording", tmp_path, monkeypatch) == 0
    assert len(read(tmp_path / "r.jsonl")) == 7


def test_a_recording_becomes_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = RecordedResponse("a", "hall", (Said("it knocked", "ann"),), steps=(("Knock", "door"),))
    write(tmp_path / "r.jsonl", Recording((one,)))
    words = "data export r.jsonl chat.jsonl --no-context --json"
    assert command(words, tmp_path, monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["examples"] == 1
    (line,) = lines_of(tmp_path / "chat.jsonl")
    assert [part["content"] for part in line["messages"]] == ["it knocked", "Knock door"]


def test_a_lesson_is_exported_from_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/classroom.db"
    database = open_database(url)
    row = new_lesson(database)
    taught(database, Learner(database, row), 4)
    database.close()
    words = f"data export {row.id} table.parquet --as parquet --database {url}"
    assert command(words, tmp_path, monkeypatch) == 0
    polars = pytest.importorskip("polars")
    table = polars.read_parquet(tmp_path / "table.parquet")
    assert table["id"].to_list() == [f"round {n}" for n in (1, 2, 3, 4)]
    assert table["person"].to_list() == ["ann"] * 4


def test_neither_a_file_nor_a_lesson_is_an_error_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"data export missing.jsonl chat.jsonl --database sqlite:///{tmp_path}/classroom.db"
    assert command(words, tmp_path, monkeypatch) == 2
    said = capsys.readouterr().err
    assert "There is no file missing.jsonl, and no lesson either" in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "chat.jsonl").exists()


def test_a_file_is_not_exported_onto_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.jsonl"
    write(path, Recording((RecordedResponse("1", "here", (Said("a mug"),), text="mug"),)))
    before = path.read_bytes()
    assert command("data export r.jsonl r.jsonl", tmp_path, monkeypatch) == 2
    assert "another file" in capsys.readouterr().err
    assert path.read_bytes() == before
