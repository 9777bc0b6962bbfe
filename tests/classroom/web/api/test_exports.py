"""Tables and logs of a lesson."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Kind
from tellback.cli import app as commands
from tellback.off_policy import Log
from tellback.recordings import read, teach
from tests.support.api_room import FEATURES, Room, _kept_lesson, eventful
from tests.support.states import same_state


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


def test_chat_messages_are_of_active_descriptions_in_the_order_of_learning(room: Room) -> None:
    lesson = eventful(room)
    room.done("DELETE", f"/lessons/{lesson}/rounds/2/description")
    content = room.send("GET", f"/lessons/{lesson}/export?format=chat").text
    found = [json.loads(line)["messages"] for line in content.splitlines()]
    told = [one for one in room.log(lesson) if one.seq in room.active(lesson).values()]
    assert [request["content"] for request, _ in found] == [
        str(one.data["description"]) for one in told
    ]
    asked = {one.round: one.data["response"] for one in room.log(lesson, kinds=[Kind.ASKED])}
    assert [done["content"] for _, done in found] == [
        f"response {asked[one.round]}" for one in told
    ]
    # Round 2 was withdrawn, 11 and 12 were rolled back, 13 was flagged, and 14 was redacted.
    assert [one.round for one in told] == [1, *range(3, 11), 15]


def test_chat_messages_can_tell_context_and_candidates(room: Room) -> None:
    texts = ["go left", "go right"]
    lesson = room.lesson(candidates="texts", dim=None, instructions=None, agent=None)
    body = {"instruction": "left", "texts": texts, "context": "at the fork"}
    asked = room.done("POST", f"/lessons/{lesson}/rounds", json=body)
    path = f"/lessons/{lesson}/rounds/{asked['round']}/description"
    room.done("PUT", path, json={"description": "it turned"})
    export = f"/lessons/{lesson}/export?format=chat"
    system, request, done = room.done("GET", export)["messages"]
    assert (system["content"], request["content"]) == ("at the fork", "it turned")
    assert done["content"] == texts[asked["response"]]
    request, _ = room.done("GET", f"{export}&context=false&candidates=true")["messages"]
    assert request["content"] == "- go left\n- go right\n\nit turned"


@pytest.mark.parametrize("kind", ["table", "texts"])
def test_a_recording_of_a_lesson_teaches_the_same_agent(
    room: Room, tmp_path: Path, kind: str
) -> None:
    """Bit for bit, also after what was withdrawn, rolled back and redacted."""
    lesson = eventful(room) if kind == "table" else _texts_lesson(room)
    path = tmp_path / "lesson.jsonl"
    path.write_bytes(room.send("GET", f"/lessons/{lesson}/export?format=recording").content)
    with room.inside.database.read() as connection:
        definition = Definition.from_data(find_lesson(connection, lesson).definition)
    agent = definition.build()
    recording = read(path)
    assert teach(agent, recording) == len(room.active(lesson)) > 3
    learner = room.inside.learner(lesson)
    learner.catch_up()
    assert same_state(agent.state(), learner.agent.state())
    # Teachers are known by the ids of their accounts alone.
    assert set(recording.people) <= set(room.ids.values())
    assert recording.people


def _texts_lesson(room: Room) -> str:
    lesson = room.lesson(candidates="texts", dim=None, instructions=None, agent=None)
    rng = np.random.default_rng(0)
    for _ in range(5):
        texts = [f"go {way}" for way in rng.permutation(["left", "right", "back", "on"])]
        asked = room.done(
            "POST", f"/lessons/{lesson}/rounds", json={"instruction": "left", "texts": texts}
        )
        path = f"/lessons/{lesson}/rounds/{asked['round']}/description"
        room.done("PUT", path, json={"description": f"it went {texts[asked['response']]}"})
    return lesson


def test_a_lesson_without_descriptions_is_an_empty_file(room: Room) -> None:
    for format in ("chat", "recording"):
        answer = room.send("GET", f"/lessons/{_kept_lesson(room)}/export?format={format}")
        assert (answer.status_code, answer.content) == (200, b"")
