"""Replays over HTTP."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.classroom.learning import replay as replay_module
from tellback.classroom.store.log import Kind
from tellback.responses import Listed
from tests.support.api_room import AGENT, CHANCE, FEATURES, Room


def test_a_replay_teaches_another_agent_the_same_and_judges_it_by_the_rest(room: Room) -> None:
    lesson = room.taught(40)
    before = room.log(lesson)
    found = room.done("POST", f"/lessons/{lesson}/replay", json={"agent": CHANCE})
    assert found["descriptions"] == 40
    assert found["estimate"]["n"] == 20
    # The estimate of chance, from the second half, by the textbook: weights (1 / 3) / p.
    told = {one.round: one.data for one in before if one.kind is Kind.DESCRIBED}
    half = [one for one in before if one.kind is Kind.ASKED and one.round > 20]
    weights = np.array([1 / 3 / one.data["propensity"] for one in half])
    matches = np.array([told[one.round]["matched"] for one in half])
    assert found["estimate"]["mean"] == pytest.approx(weights @ matches / weights.sum())
    assert found["estimate"]["low"] <= found["estimate"]["mean"] <= found["estimate"]["high"]
    greedy = {"kind": "greedy", "model": {"kind": "ridge"}}
    found = room.done("POST", f"/lessons/{lesson}/replay", json={"agent": greedy})
    agent = room.rebuilt(lesson)
    best = [
        int(np.argmax(agent.model_agent.model.estimates(one.data["instruction"], Listed(FEATURES))))
        for one in half
    ]
    same = np.mean([y == one.data["response"] for y, one in zip(best, half, strict=True)])
    assert found["same_choice"]["share"] == pytest.approx(same)
    assert room.log(lesson) == before


def test_a_replay_says_why_a_log_can_not_speak_for_an_agent(room: Room) -> None:
    certain = {"kind": "greedy", "model": {"kind": "ridge"}, "ties": "first"}
    lesson = room.taught(8, agent=certain)
    found = room.done("POST", f"/lessons/{lesson}/replay", json={"agent": CHANCE})
    assert found["estimate"] is None
    assert "propensity 1" in found["estimate_says"]


def test_a_replay_that_is_too_long_is_refused_with_another_way(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = room.taught(3)
    monkeypatch.setattr(replay_module, "MOST_DESCRIPTIONS", 2)
    answer = room.send("POST", f"/lessons/{lesson}/replay", json={"agent": AGENT})
    assert answer.status_code == 422
    assert "export" in answer.json()["detail"]
    monkeypatch.setattr(replay_module, "MOST_DESCRIPTIONS", 20)
    monkeypatch.setattr(replay_module, "MOST_SECONDS", -1.0)
    answer = room.send("POST", f"/lessons/{lesson}/replay", json={"agent": AGENT})
    assert (answer.status_code, answer.json()["field"]) == (422, "agent")
    answer = room.send("POST", f"/lessons/{lesson}/replay", json={"agent": {"kind": "nobody"}})
    assert (answer.status_code, answer.json()["field"]) == (422, "agent")


def test_a_replay_has_the_lessons_agent_or_its_model_unless_another_is_named(room: Room) -> None:
    lesson = room.lesson(instructions=None, agent=None)
    own = room.inside.learner(lesson).definition.to_data()["agent"]
    path = f"/lessons/{lesson}/replay"
    assert own["kind"] == "greedy"
    assert room.done("POST", path, json={})["agent"] == own
    assert room.done("POST", path, json={"agent": {"kind": "greedy"}})["agent"] == own
    other = room.done("POST", path, json={"agent": {"kind": "loril"}})["agent"]
    assert (other["kind"], other["model"]) == ("loril", own["model"])
