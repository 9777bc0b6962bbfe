"""Tables and logs of a lesson."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from tellback.classroom.store.log import Kind
from tellback.cli import app as commands
from tellback.off_policy import Log
from tests.support.api_room import FEATURES, Room, _kept_lesson, eventful


def test_a_table_has_a_row_for_each_event(room: Room) -> None:
    lesson = eventful(room)
    content = room.send("GET", f"/lessons/{lesson}/export?format=parquet").content
    table = pl.read_parquet(io.BytesIO(content))
    happened = room.log(lesson)
    assert table["seq"].to_list() == [one.seq for one in happened]
    assert table["kind"].to_list() == [one.kind.value for one in happened]
    asked = table.filter(pl.col("kind") == "asked")
    assert all(features == FEATURES for features in asked["features"].to_list())
    propensities = [one.data["propensity"] for one in happened if one.kind is Kind.ASKED]
    assert asked["propensity"].to_list() == propensities
    empty = room.send("GET", f"/lessons/{_kept_lesson(room)}/export?format=parquet").content
    assert pl.read_parquet(io.BytesIO(empty)).shape == (0, table.width)


def test_a_log_for_off_policy_use_marks_who_saw_the_request(room: Room, tmp_path: Path) -> None:
    lesson = room.taught(24)
    room.tell(lesson, 2, 3)  # said otherwise after the request was shown
    room.tell(lesson, 2, 1)
    room.done("DELETE", f"/lessons/{lesson}/rounds/4/description")
    path = tmp_path / "log.jsonl"
    path.write_bytes(room.send("GET", f"/lessons/{lesson}/export?format=log").content)
    log = Log.load(path)
    assert len(log) == 24
    assert log.teacher_saw_request.tolist() == [n == 2 for n in range(1, 25)]
    assert [n for n, one in enumerate(log.descriptions, start=1) if one is None] == [4]
    expected = {one.round: one.data for one in room.log(lesson, kinds=[Kind.ASKED])}
    assert log.propensities.tolist() == [expected[n]["propensity"] for n in range(1, 25)]
    assert len(log.usable) == 22
    done = CliRunner().invoke(commands, ["evaluate", str(path)])
    assert done.exit_code == 0, done.output
    assert "chance" in done.output
