"""Apprentice mode: the agent advises, another policy acts, both are in the log."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tellback.classroom.store.log import Kind
from tellback.responses import Listed
from tests.support.api_room import FEATURES, Room, client_of


def ask(room: Room, lesson: str, response: int, propensity: float | None = None) -> Any:
    acted = {"response": response, "propensity": propensity}
    body = {"instruction": 1, "features": FEATURES, "acted": acted}
    return room.done("POST", f"/lessons/{lesson}/rounds", json=body)


def test_what_was_done_is_described_and_learned_and_the_advice_is_kept(room: Room) -> None:
    lesson = room.lesson()
    answer = ask(room, lesson, 2, 0.25)
    assert (answer["response"], answer["propensity"], answer["estimate"]) == (2, 0.25, None)
    assert answer["advice"].keys() == {"response", "estimate", "bonus", "propensity"}
    [event] = room.log(lesson)
    assert event.data["response"] == 2
    assert event.data["advice"]["response"] == answer["advice"]["response"]
    assert room.claimed(lesson, room.ann) == 1
    room.tell(lesson, 1, 3, room.ann)
    state = room.done("GET", f"/lessons/{lesson}/rounds/1")
    assert (state["response"], state["advice"]) == (2, answer["advice"])
    room.assert_rebuilt(lesson)
    # It was taught what was done, and not what it had advised.
    learned = room.inside.learner(lesson).agent.model_agent.model
    taught = room.inside.learner(lesson).definition.build()
    taught.model.learn(np.array(FEATURES[2]), 3)
    rows = Listed(np.array(FEATURES))
    assert np.array_equal(learned.estimates(3, rows), taught.model.estimates(3, rows))


def test_a_request_sent_again_brings_the_same_advice(room: Room) -> None:
    lesson = client_of(room).lesson(room.lesson())
    first, again = (
        lesson.ask(0, features=FEATURES, acted={"response": 1}, key="once") for _ in range(2)
    )
    assert (first.number, first.advice) == (again.number, again.advice)
    assert first.response == again.response == 1
    assert lesson.ask(0, features=FEATURES).advice is None


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"response": 3}, "acted.response"),
        ({"response": -1}, "acted.response"),
        ({"response": 0, "propensity": 0}, "acted.propensity"),
        ({"response": 0, "propensity": 1.5}, "acted.propensity"),
        ({}, "acted.response"),
    ],
)
def test_what_cannot_have_been_done_is_refused(room: Room, wrong: Any, field: str) -> None:
    body = {"instruction": 1, "features": FEATURES, "acted": wrong}
    answer = room.send("POST", f"/lessons/{room.lesson()}/rounds", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_the_report_compares_and_an_export_keeps_what_it_needs(room: Room) -> None:
    rng = np.random.default_rng(3)
    lesson = room.lesson()
    for number in range(1, 31):
        ask(room, lesson, int(rng.integers(3)), 1 / 3)
        if number % 3:
            room.tell(lesson, number, number % 2)
    room.ask(lesson)  # the agent acts: another matter
    found = room.done("GET", f"/lessons/{lesson}/apprentice", room.ann)
    assert (found["rounds"], found["judged"], found["verdict"]) == (30, 20, "undecided")
    assert found["acting"]["share"] == 0.5
    assert found["gain"]["low"] < 0 < found["gain"]["high"]
    assert found["match_says"] == "equality, which is exact"
    after = room.done("GET", f"/lessons/{lesson}/apprentice?after=15&margin=0.5")
    assert (after["rounds"], after["judged"]) == (15, 10)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    copy = room.lesson()
    room.done("POST", f"/lessons/{copy}/import", content=lines)
    same = room.done("GET", f"/lessons/{copy}/apprentice")
    assert same == found
    kept = [json.loads(line) for line in lines.splitlines()[1:]]
    assert sum("advice" in one["data"] for one in kept if one["kind"] == Kind.ASKED) == 30
    # Rounds that were rolled back are not compared.
    room.done("POST", f"/lessons/{lesson}/rollback", json={"to": 0})
    assert room.done("GET", f"/lessons/{lesson}/apprentice")["judged"] == 0


def test_where_people_judge_their_verdicts_are_compared(room: Room) -> None:
    lesson = room.done("POST", "/lessons", json={"name": "words", "dim": 3})["id"]
    priority = room.inside.learner(lesson).verdicts.priority
    picked = [number for number in range(1, 31) if priority(number) < 0.25]
    for number in range(1, 31):
        body = {"instruction": "go", "features": FEATURES, "acted": {"response": 0}}
        room.done("POST", f"/lessons/{lesson}/rounds", json=body)
        path = f"/lessons/{lesson}/rounds/{number}"
        room.done("PUT", f"{path}/description", json={"description": "went"})
        room.done("PUT", f"{path}/judgement", json={"met": number % 2 == 0})
    found = room.done("GET", f"/lessons/{lesson}/apprentice")
    assert found["judged"] == len(picked) > 2
    assert found["agent"]["mean"] is None
    assert "by people" in found["match_says"]
