"""People say whether a response did what was asked."""

from __future__ import annotations

from typing import Any

from tests.support.api_room import FEATURES, Room

WORDS: dict[str, Any] = {"instructions": None, "agent": None}


def described(room: Room, count: int, **more: Any) -> str:
    """A lesson of sentences, with rounds that the engineer has asked and ann has described."""
    lesson = room.lesson(**WORDS, **more)
    for number in range(1, count + 1):
        body = {"instruction": f"please play song {number}", "features": FEATURES}
        room.done("POST", f"/lessons/{lesson}/rounds", json=body)
        assert room.claimed(lesson, room.ann) == number
        place = f"/lessons/{lesson}/rounds/{number}/description"
        told = room.done("PUT", place, room.ann, json={"description": f"a drum, {number} times"})
        assert told["matched"] is None
        assert told["judged_by"] == "people"
    return lesson


def progress(room: Room, lesson: str) -> Any:
    return room.done("GET", f"/lessons/{lesson}/progress", room.ann)


def test_a_lesson_of_sentences_shows_a_share_once_people_have_judged(room: Room) -> None:
    lesson = described(room, 12)
    assert progress(room, lesson)["matches"] is None
    asked = set()
    for place in range(12):
        shown = room.done("POST", f"/lessons/{lesson}/judgements", room.ben)
        asked.add(shown["round"])
        assert shown["instruction"] == f"please play song {shown['round']}"
        assert shown["response"] in (0, 1, 2)
        path = f"/lessons/{lesson}/rounds/{shown['round']}/judgement"
        assert room.done("PUT", path, room.ben, json={"met": place < 9})["met"] == (place < 9)
    assert asked == set(range(1, 13))
    assert room.send("POST", f"/lessons/{lesson}/judgements", room.ben).status_code == 204
    found = progress(room, lesson)
    assert found["matches"] == {"share": 0.75, "low": 0.75, "high": 0.75, "n": 12}
    assert "12 of 12 so far" in found["match_says"]


def test_only_what_was_described_is_judged(room: Room) -> None:
    lesson = described(room, 1)
    body = {"instruction": "please stop", "features": FEATURES}
    room.done("POST", f"/lessons/{lesson}/rounds", json=body)
    refused = room.send("PUT", f"/lessons/{lesson}/rounds/2/judgement", json={"met": True})
    assert refused.status_code == 409
    assert refused.json()["code"] == "not_described"


def test_who_has_judged_a_round_is_asked_for_no_blind_check_of_it(room: Room) -> None:
    lesson = described(room, 1)
    assert room.done("POST", f"/lessons/{lesson}/checks", room.ben)["round"] == 1
    room.done("POST", f"/lessons/{lesson}/judgements", room.ben)
    assert room.send("POST", f"/lessons/{lesson}/checks", room.ben).status_code == 204


def test_where_the_truth_is_known_nobody_is_asked(room: Room) -> None:
    lesson = room.inside.demonstrate()
    number = room.claimed(lesson, room.ann)
    place = f"/lessons/{lesson}/rounds/{number}/description?effect=true"
    told = room.done("PUT", place, room.ann, json={"description": "a red box"})
    assert told["judged_by"] == "truth"
    assert told["matched"] in (True, False)
    assert not told["asks_judgement"]
    effect = told["effect"]
    assert effect["gained"] - effect["lost"] == effect["right"] - _first_point(room, lesson)
    assert room.send("POST", f"/lessons/{lesson}/judgements", room.ann).status_code == 204


def _first_point(room: Room, lesson: str) -> int:
    """How many held-out requests a new agent meets."""
    from tellback.classroom.learning.lesson_agent import LessonAgent

    learner = room.inside.learner(lesson)
    right = learner.exam.right(learner.exam.answers(LessonAgent(learner.definition)))
    assert right is not None
    return sum(right)


def test_judgements_go_with_a_copy_of_the_lesson(room: Room) -> None:
    lesson = described(room, 2)
    for number, met in ((1, True), (2, None)):
        path = f"/lessons/{lesson}/rounds/{number}/judgement"
        room.done("PUT", path, room.ann, json={"met": met})
    copy = room.lesson(**WORDS)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    room.done("POST", f"/lessons/{copy}/import", content=lines)
    judged = [(one.round, one.data.get("met")) for one in room.log(copy) if one.kind == "judged"]
    assert judged == [(1, True), (2, None)]
