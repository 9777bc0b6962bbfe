"""Rounds and their descriptions over HTTP."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tellback.classroom.learning.importing import Importer
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Kind
from tellback.classroom.web.api import rounds as rounds_api
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


@pytest.mark.parametrize(
    "path", ["/lessons", "/tokens", "/lessons/{}/rollback", "/lessons/{}/claims"]
)
def test_a_key_is_refused_where_it_would_be_ignored(room: Room, path: str) -> None:
    path = path.format(_kept_lesson(room))
    answer = room.send("POST", path, json={}, headers={"Idempotency-Key": "one"})
    assert (answer.status_code, answer.json()["field"]) == (422, "Idempotency-Key")
    assert "takes no Idempotency-Key" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path", "status", "field", "says"),
    [
        ("GET", "/lessons/{}/rounds?teacher=nobody", 404, "query.teacher", "no account 'nobody'"),
        ("GET", "/lessons/{}/apprentice?margin=nan", 422, "query.margin", "finite number"),
        ("GET", "/lessons/{}/rounds?limit=1&limit=2", 422, "query.limit", "once only"),
        ("GET", "/lessons/A_B", 422, "path.lesson", "a character that is not allowed here"),
    ],
)
def test_a_refusal_names_the_part_of_the_address(
    room: Room, method: str, path: str, status: int, field: str, says: str
) -> None:
    answer = room.send(method, path.format(_kept_lesson(room)))
    assert (answer.status_code, answer.json()["field"]) == (status, field)
    assert says in answer.json()["detail"]


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
    assert learner.keep_checkpoint()
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


def listed(room: Room, lesson: str, who: dict[str, str] | None = None, **query: Any) -> list[int]:
    """All rounds of a list, page by page."""
    found: list[int] = []
    after: int | None = 0
    while after is not None:
        params = query | {"after": after}
        answer = room.done("GET", f"/lessons/{lesson}/rounds", who, params=params)
        assert len(answer["rounds"]) <= query.get("limit", 50)
        found += [one["round"] for one in answer["rounds"]]
        after = answer["next"]
    return found


@pytest.mark.parametrize("limit", [1, 2, 4, 50])
def test_rounds_are_listed_by_status_teacher_and_words_a_page_at_a_time(
    room: Room, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds_api, "AT_A_TIME", 3)
    monkeypatch.setattr(rounds_api, "MOST_LOOKED", 3)
    lesson = room.lesson(instructions=None, agent=None)
    for number in range(1, 9):
        body = {"instruction": f"Go {'left' if number % 2 else 'right'}", "features": FEATURES}
        room.done("POST", f"/lessons/{lesson}/rounds", json=body)
    for number, who, words in ((1, room.ann, "one LEFT"), (2, room.ben, "caf\u00c9")):
        assert room.claimed(lesson, who) == number
        path = f"/lessons/{lesson}/rounds/{number}/description"
        room.done("PUT", path, who, json={"description": words})
    assert listed(room, lesson, limit=limit) == list(range(1, 9))
    assert listed(room, lesson, limit=limit, status="open") == list(range(3, 9))
    assert listed(room, lesson, limit=limit, teacher="ben") == [2]
    assert listed(room, lesson, limit=limit, teacher=room.ids["ann"], status="described") == [1]
    assert listed(room, lesson, limit=limit, q="caf\u00e9") == [2]
    assert listed(room, lesson, limit=limit, q="LEFT") == [1, 3, 5, 7]
    assert listed(room, lesson, limit=limit, q="nowhere") == []
    first = room.done("GET", f"/lessons/{lesson}/rounds?limit=1")["rounds"][0]
    assert first == room.done("GET", f"/lessons/{lesson}/rounds/1")


def test_requests_are_listed_for_reviewers_only_and_unknown_filters_are_refused(room: Room) -> None:
    path = f"/lessons/{_kept_lesson(room)}/rounds"
    assert room.send("GET", path, room.ann).status_code == 403
    assert room.send("GET", f"{path}?statsu=open").status_code == 422
    assert room.send("GET", f"{path}?status=done").status_code == 422
    for nobody in ("nobody", "an"):
        unknown = room.send("GET", f"{path}?teacher={nobody}")
        assert unknown.status_code == 404
        # A reviewer may not list accounts, and so is given no names of others.
        assert unknown.json()["detail"] == f"There is no account {nobody!r}."
    assert room.send("GET", "/lessons/nowhere/rounds").status_code == 404


@pytest.mark.parametrize(
    "path", ["", "/rounds", "/rounds/1", "/rounds/1/shown", "/progress", "/export", "/updates"]
)
def test_head_is_answered_as_get_without_the_body(room: Room, path: str) -> None:
    lesson = room.taught(1)
    head = room.send("HEAD", f"/lessons/{lesson}{path}")
    assert (head.status_code, head.content) == (200, b"")
    if path not in ("/updates", "/progress"):
        get = room.send("GET", f"/lessons/{lesson}{path}")
        assert head.headers["content-type"] == get.headers["content-type"]
        assert head.headers.get("content-length") == get.headers.get("content-length")
    assert room.send("HEAD", f"/lessons/{lesson}/rounds/7").status_code == 404
    refused = room.send("HEAD", f"/lessons/{lesson}/import")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_the_curve_is_never_behind_the_descriptions_and_the_share_is_that_of_the_truth(
    room: Room,
) -> None:
    lesson = room.inside.demonstrate()
    met = []
    for _ in range(3):
        number = room.claimed(lesson, room.ann)
        path = f"/lessons/{lesson}/rounds/{number}/description?effect=true"
        told = room.done("PUT", path, room.ann, json={"description": "a red box"})
        met.append(told["matched"])
        curve = room.done("GET", f"/lessons/{lesson}/curve", room.ann)
        last = curve["curve"][-1]
        assert last["described"] == curve["described"] == len(met)
        assert last["right"] == told["effect"]["right"]
    share = room.done("GET", f"/lessons/{lesson}/progress", room.ann)["matches"]
    assert (share["n"], share["low"]) == (3, share["high"])
    assert share["share"] == sum(met) / 3


def test_a_propensity_of_almost_nothing_is_refused(room: Room) -> None:
    acted = {"response": 0, "propensity": 1e-300}
    body = {"instruction": 1, "features": FEATURES, "acted": acted}
    answer = room.send("POST", f"/lessons/{_kept_lesson(room)}/rounds", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, "acted.propensity")
    assert "0.000001" in answer.json()["detail"]


def test_a_round_without_a_description_cannot_be_reviewed(room: Room) -> None:
    lesson = room.lesson()
    room.ask(lesson)
    for body in ({"outcome": "accepted"}, {"outcome": "corrected", "description": 1}):
        answer = room.send("PUT", f"/lessons/{lesson}/rounds/1/review", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "not_described")
    room.done("PUT", f"/lessons/{lesson}/rounds/1/outcome", json={"outcome": "flagged"})
    room.done("PUT", f"/lessons/{lesson}/rounds/1/review", json={"outcome": "accepted"})
