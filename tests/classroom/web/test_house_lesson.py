"""A lesson whose responses are too many to list: paths through a house, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback.classroom.learning.demonstration import demonstration
from tellback.off_policy import Log
from tellback.recordings import read
from tests.support.api_room import Room
from tests.support.house_reader import looked_at, told
from tests.support.states import same_state


def new_house(room: Room, seed: int = 0) -> str:
    return room.inside.create("A house", demonstration("house", seed)).id


def walked(room: Room, lesson: str, rounds: int, seed: int = 0) -> list[dict[str, Any]]:
    """Some rounds, described by a person who looks at the drawing; what the service answered."""
    rng = np.random.default_rng(seed)
    answers = []
    for _ in range(rounds):
        shown = room.done("POST", f"/lessons/{lesson}/claims", room.ann)
        path = f"/lessons/{lesson}/rounds/{shown['round']}/description?effect=true"
        said = {"description": told(looked_at(shown["drawing"]), rng)}
        answers.append(room.done("PUT", path, room.ann, json=said))
    return answers


def exported(room: Room, lesson: str, query: str = "") -> bytes:
    content: bytes = room.send("GET", f"/lessons/{lesson}/export{query}").content
    return content


@pytest.fixture(scope="module")
def lesson(room: Room) -> str:
    """A lesson of twelve descriptions, for tests that change nothing."""
    lesson = new_house(room)
    walked(room, lesson, 12)
    return lesson


def test_a_teacher_sees_the_path_alone_and_the_effect_of_a_sentence(room: Room) -> None:
    lesson = new_house(room)
    shown = room.done("POST", f"/lessons/{lesson}/claims", room.ann)
    assert (shown["candidates"], shown["response"], shown["images"]) == (1, 0, None)
    seen = looked_at(shown["drawing"])
    assert len(seen.things) == 8
    assert len(set(seen.rooms.values())) == 6
    effect = walked(room, lesson, 6)[-1]["effect"]
    assert effect["learned"] == 6
    assert effect["requests"] == 100
    # A path that changed and is as right or wrong as before is no news.
    assert all(one["was_right"] != one["is_right"] for one in effect["changes"])
    assert room.done("GET", f"/lessons/{lesson}/progress")["described"] == 6


def test_undo_skip_rollback_and_a_checkpoint_leave_the_agent_that_the_log_teaches(
    room: Room,
) -> None:
    lesson = new_house(room)
    walked(room, lesson, 8)
    room.done("DELETE", f"/lessons/{lesson}/rounds/3/description", room.ann)
    room.assert_rebuilt(lesson)
    skipped = room.claimed(lesson, room.ben)
    ended = f"/lessons/{lesson}/rounds/{skipped}/outcome"
    room.done("PUT", ended, room.ben, json={"outcome": "skipped"})
    room.done("POST", f"/lessons/{lesson}/rollback", json={"to": 12})
    room.assert_rebuilt(lesson)
    assert room.inside.learner(lesson).agent.learned == 6
    learner = room.inside.learner(lesson)
    assert learner.keep_checkpoint()
    before = learner.agent.state()
    room.inside.forget(lesson)
    assert same_state(room.inside.learner(lesson).agent.state(), before)


def test_a_preview_draws_a_path_for_any_sentence_and_shown_is_the_plan_alone(
    room: Room, lesson: str
) -> None:
    plan = looked_at(room.done("GET", f"/lessons/{lesson}/rounds/2/shown")["drawing"])
    assert len(plan.path) == 1
    for sentence in ("to the kitchen", "anything at all", "to the hall"):
        body = {"instruction": sentence, "round": 2}
        found = room.done("POST", f"/lessons/{lesson}/preview", room.ann, json=body)
        drawn = looked_at(found["drawing"])
        assert (drawn.rooms, drawn.things) == (plan.rooms, plan.things)
        assert drawn.path[0] == plan.path[0]
        assert found == room.done("POST", f"/lessons/{lesson}/preview", room.ann, json=body)
    both = {"instruction": "to the hall", "round": 2, "features": [[1.0]]}
    refused = room.send("POST", f"/lessons/{lesson}/preview", room.ann, json=both)
    assert (refused.status_code, refused.json()["field"]) == (422, "round")


def test_an_export_taught_to_another_lesson_of_the_same_world_makes_the_same_agent(
    room: Room, lesson: str
) -> None:
    lines = exported(room, lesson)
    copy = new_house(room)
    walked(room, copy, 2, seed=1)  # its own rounds come first: numbers of rounds differ
    room.done("POST", f"/lessons/{copy}/import", content=lines)
    assert room.inside.learner(copy).agent.learned == 14
    room.assert_rebuilt(copy)
    empty = new_house(room)
    room.done("POST", f"/lessons/{empty}/import", content=lines)
    assert same_state(room.rebuilt(empty).state(), room.rebuilt(lesson).state())
    body = {"instruction": "to the hall", "round": 1}
    previews = [
        room.done("POST", f"/lessons/{each}/preview", json=body | {"round": number})["drawing"]
        for each, number in ((lesson, 12), (empty, 12), (copy, 14))
    ]
    assert previews[0] == previews[1]
    assert looked_at(previews[2]).rooms == looked_at(previews[0]).rooms


def test_an_export_of_another_house_is_refused_and_nothing_of_it_stays(
    room: Room, lesson: str
) -> None:
    lines = exported(room, lesson)
    dim = room.inside.learner(lesson).definition.facts.dim
    listed = room.lesson(dim=dim, instructions=None, agent=None)
    for other in (new_house(room, seed=1), listed):
        refused = room.send("POST", f"/lessons/{other}/import", content=lines)
        assert refused.status_code == 422
        assert "world and seed are the same" in refused.json()["detail"]
        assert room.log(other) == []


def test_descriptions_are_exported_as_messages_a_recording_and_a_log(
    room: Room, lesson: str, tmp_path: Path
) -> None:
    chat = [json.loads(line) for line in exported(room, lesson, "?format=chat").splitlines()]
    assert len(chat) == 12
    assert all(set(one["messages"][-1]["content"]) <= set("NESW") for one in chat)
    path = tmp_path / "recording.jsonl"
    path.write_bytes(exported(room, lesson, "?format=recording"))
    assert len(read(path)) == 12
    path = tmp_path / "log.jsonl"
    path.write_bytes(exported(room, lesson, "?format=log"))
    log = Log.load(path)
    assert len(log) == 12
    assert "candidates" in log.kind


def test_a_replay_needs_an_agent_that_draws_candidates(room: Room, lesson: str) -> None:
    alone = {"kind": "greedy", "model": {"kind": "ridge"}}
    refused = room.send("POST", f"/lessons/{lesson}/replay", json={"agent": alone})
    assert (refused.status_code, refused.json()["field"]) == (422, "agent")
    assert "proposing" in refused.json()["detail"]
    drawing = {"kind": "proposing", "agent": alone, "candidates": 16}
    found = room.done("POST", f"/lessons/{lesson}/replay", json={"agent": drawing})
    assert found["descriptions"] == 12
    assert found["success"]["requests"] == 100


def test_one_path_is_nothing_to_pick_from_so_there_are_no_blind_checks(
    room: Room, lesson: str
) -> None:
    assert room.send("POST", f"/lessons/{lesson}/checks", room.ben).status_code == 204
    place = f"/lessons/{lesson}/rounds/1/check"
    refused = room.send("PUT", place, room.ben, json={"response": 0})
    assert (refused.status_code, refused.json()["code"]) == (409, "one_response")
