"""Requests that are sent again."""

from __future__ import annotations

from typing import Any

from tests.support.api_room import API, FEATURES, Room


def test_two_keys_are_refused(room: Room) -> None:
    lesson, body = room.lesson(), {"instruction": 0, "features": FEATURES}
    keys = [("Idempotency-Key", "one"), ("idempotency-key", "two"), *room.engineer.items()]
    answer = room.http.post(f"{API}/lessons/{lesson}/rounds", json=body, headers=keys)
    assert (answer.status_code, answer.json()["field"]) == (422, "Idempotency-Key")
    assert "once only" in answer.json()["detail"]
    assert room.log(lesson) == []


def test_a_second_delete_answers_as_the_page_on_the_api_says(room: Room) -> None:
    lesson = room.lesson()
    place = f"/lessons/{lesson}"
    known = {"instruction": 0, "features": FEATURES, "acted": {"response": 0}}
    item = room.done("POST", f"{place}/rounds", json={**known, "known": {"answers": [1]}})["round"]
    told = room.ask(lesson)["round"]
    room.tell(lesson, told, 1)
    token = room.done("POST", "/tokens", json={"name": "robot"})["id"]
    hook = room.done("POST", f"{place}/webhooks", json={"url": "http://127.0.0.1:9/"})["id"]

    def twice(path: str) -> list[tuple[int, Any]]:
        answers = [room.send("DELETE", path, room.admin) for _ in range(2)]
        return [(one.status_code, one.json() if one.content else None) for one in answers]

    first, second = twice(f"{place}/rounds/{told}/description")
    assert (first[0], second) == (200, (200, {"round": told, "withdrawn": False}))
    first, second = twice(f"{place}/teachers/eng/data")
    assert (first[0], second[0], second[1]["events"]) == (200, 200, 0)
    assert twice(f"/tokens/{token}") == [(204, None)] * 2
    for path, status, code in (
        (f"{place}/rounds/{item}/known", 409, "not_known"),
        (f"{place}/webhooks/{hook}", 404, "not_found"),
        (f"{place}?word=delete", 404, "not_found"),
    ):
        first, second = twice(path)
        assert (first[0], second[0], second[1]["code"]) == (204, status, code), path
