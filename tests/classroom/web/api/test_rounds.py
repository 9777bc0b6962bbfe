"""Rounds and their descriptions over HTTP."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tellback.classroom.learning.checkpoints import keep_checkpoint
from tellback.classroom.learning.importing import Importer
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Kind, writing
from tests.support.api_room import AGENT, API, FEATURES, Room, _kept_lesson
from tests.support.states import same_state


def test_the_same_key_brings_the_same_answer_and_one_round(room: Room) -> None:
    lesson = room.lesson()
    first, again = (room.ask(lesson, headers={"Idempotency-Key": f"same-{lesson}"}) for _ in "ab")
    assert first == again
    assert len(room.log(lesson)) == 1


def test_a_key_with_another_body_is_refused(room: Room) -> None:
    lesson = room.lesson()
    key = {"Idempotency-Key": f"other-{lesson}"}
    room.ask(lesson, 0, headers=key)
    body = {"instruction": 1, "features": FEATURES}
    answer = room.send("POST", f"/lessons/{lesson}/rounds", json=body, headers=key)
    assert answer.status_code == 409
    assert answer.json()["code"] == "key_reused"
    assert len(room.log(lesson)) == 1


def test_the_same_key_many_times_at_once_makes_one_round(room: Room) -> None:
    lesson = room.lesson()
    key = {"Idempotency-Key": f"rush-{lesson}"}
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: room.ask(lesson, headers=key), range(12)))
    assert all(one == found[0] for one in found)
    assert len(room.log(lesson)) == 1


def test_descriptions_may_come_late_twice_out_of_order_or_never(room: Room) -> None:
    lesson = room.lesson()
    for _ in range(4):
        room.ask(lesson)
    for number in (3, 1, 3, 2, 1):
        room.tell(lesson, number, number % 4)
    assert list(room.active(lesson)) == [3, 1, 2]
    described = [one for one in room.log(lesson) if one.kind is Kind.DESCRIBED]
    assert [one.round for one in described] == [3, 1, 2]
    never = room.done("GET", f"/lessons/{lesson}/rounds/4")
    assert (never["status"], never["description"]) == ("open", None)
    room.assert_rebuilt(lesson)


def test_what_is_taken_back_was_never_known(room: Room) -> None:
    lesson = room.taught(5)
    before = room.rebuilt(lesson).state()
    room.ask(lesson, 1)
    room.tell(lesson, 6, 2)
    room.ask(lesson, 2)
    room.tell(lesson, 7, 3)
    assert not same_state(room.rebuilt(lesson).state(), before)
    for number in (6, 7):
        assert room.done("DELETE", f"/lessons/{lesson}/rounds/{number}/description")["withdrawn"]
    room.assert_rebuilt(lesson)
    assert same_state(room.inside.learner(lesson).agent.state(), before)


def lines_of(*played: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in played)


def test_what_a_model_refuses_is_not_learned_and_stops_nothing_else(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = room.lesson()
    long = {"instruction": 0, "features": [[1e8, 0.0, 0.0]] * 3, "response": 0, "description": 1}
    fine = long | {"features": FEATURES}
    with monkeypatch.context() as patch:  # a log from before imports were refused
        patch.setattr(Importer, "refuse_unfit", lambda *_: None)
        room.done("POST", f"/lessons/{lesson}/import", content=lines_of(long, fine, long))
    learner = room.inside.learner(lesson)
    assert learner.agent.learned == 1
    assert len(room.active(lesson)) == 3
    room.ask(lesson)
    path = f"/lessons/{lesson}/rounds/4/description?effect=true"
    effect = room.done("PUT", path, json={"description": 1})["effect"]
    assert (effect["learned"], effect["requests"]) == (2, 1)
    assert room.done("GET", f"/lessons/{lesson}/progress")["described"] == 4
    with writing(room.inside.database, lesson) as log:
        assert keep_checkpoint(log, learner.agent)
    with room.inside.database.read() as connection:
        again = Learner(room.inside.database, find_lesson(connection, lesson))
    assert again.agent.learned == 2
    room.done("DELETE", f"/lessons/{lesson}/rounds/1/description")
    again.catch_up()
    assert (again.agent.learned, again.agent.active) == (2, room.active(lesson))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "export"),
        ("POST", "import"),
        ("POST", "rollback"),
        ("POST", "replay"),
        ("GET", "webhooks"),
        ("POST", "webhooks"),
    ],
)
def test_only_engineers_reach_the_log(room: Room, method: str, path: str) -> None:
    lesson = _kept_lesson(room)
    assert room.send(method, f"/lessons/{lesson}/{path}", room.ann, json={}).status_code == 403
    assert room.http.request(method, f"{API}/lessons/{lesson}/{path}").status_code == 401
    assert room.send(method, f"/lessons/nowhere/{path}", json={}).status_code in (404, 422)


@pytest.mark.parametrize("agent", [AGENT, {"kind": "loril", "model": {"kind": "ridge"}}])
def test_features_that_the_agent_could_not_learn_from_are_refused(
    room: Room, agent: dict[str, Any]
) -> None:
    lesson = room.lesson(agent=agent)
    body = {"instruction": 0, "features": [[1e8, 0.0, 0.0], [0.0, 1e8, 0.0]]}
    refused = room.send("POST", f"/lessons/{lesson}/rounds", json=body)
    assert refused.status_code == 422
    assert "Divide all features" in refused.text
