"""What a lesson says of itself is so: effects, counts, and slips that were kept."""

from __future__ import annotations

from typing import Any

from tests.classroom.web.api.test_careless import COUNT, SAID, lesson_of
from tests.support.api_room import Room


def _say(room: Room, lesson: str, round: int, who: dict[str, str], **body: Any) -> Any:
    path = f"/lessons/{lesson}/rounds/{round}/description?effect=true"
    return room.done("PUT", path, who, json=body)


def _ask(room: Room, lesson: str, place: int) -> int:
    features = [[float(one == place) for one in range(3)]]
    body = {"instruction": "went left", "features": features}
    room.done("POST", f"/lessons/{lesson}/rounds", json=body)
    return room.claimed(lesson, room.ann)


def test_an_effect_says_that_descriptions_were_weighed_anew(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19), doubt="weigh")
    learner = room.inside.learner(lesson)
    changed = {}
    for number in range(COUNT + 1, 33):
        before = learner.agent.left_out
        told = _say(room, lesson, _ask(room, lesson, number % 3), room.ann, description=SAID[0])
        changed[number] = told["effect"]["weighed"]
        assert changed[number] == len(before ^ learner.agent.left_out)
    assert changed.pop(32) > 0  # they are weighed at 24 and at 32
    assert set(changed.values()) == {0}


def test_counts_of_descriptions_and_of_the_curve_are_told_apart(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19), doubt="weigh")
    found = room.done("GET", f"/lessons/{lesson}/progress")
    assert (found["described"], found["taught"], found["left_out"]) == (COUNT, COUNT - 2, 2)
    assert room.inside.learner(lesson).examined()[1].described == found["taught"]


def test_a_slip_that_was_kept_when_asked_is_in_the_inbox(room: Room) -> None:
    lesson = lesson_of(room)
    kept = _ask(room, lesson, 0)
    _say(room, lesson, kept, room.ann, description=SAID[1], sure=True, first=SAID[1])
    corrected = _ask(room, lesson, 0)
    _say(room, lesson, corrected, room.ann, description=SAID[0], sure=True, first=SAID[1])
    later = _ask(room, lesson, 0)
    _say(room, lesson, later, room.ann, description=SAID[1])
    _say(room, lesson, later, room.ann, description=SAID[0], sure=True)  # corrected when asked
    found = {one["round"]: one for one in room.done("GET", f"/lessons/{lesson}/inbox")["rounds"]}
    assert kept in found
    assert "stands by it" in found[kept]["reasons"][-1]["says"]
    assert not {corrected, later} & found.keys()
    room.done("PUT", f"/lessons/{lesson}/rounds/{kept}/review", json={"outcome": "accepted"})
    left = room.done("GET", f"/lessons/{lesson}/inbox")["rounds"]
    assert kept not in {one["round"] for one in left}
