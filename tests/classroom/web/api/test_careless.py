"""Questions about doubtful descriptions, and the inbox of reviewers, over the API."""

from __future__ import annotations

from typing import Any

from tellback.classroom.store.log import Kind
from tellback.classroom.store.rounds import find_round
from tests.support.api_room import Room

WORDS: dict[str, Any] = {"instructions": None, "agent": None, "match": {"kind": "same"}}
PLACES = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SAID = ("went left", "went right", "stood still")
COUNT = 24


def _ask(room: Room, lesson: str, place: int, who: dict[str, str]) -> int:
    body = {"instruction": "went left", "features": [PLACES[place]]}
    room.done("POST", f"/lessons/{lesson}/rounds", json=body)
    return room.claimed(lesson, who)


def _describe(room: Room, lesson: str, round: int, who: dict[str, str], **body: Any) -> Any:
    path = f"/lessons/{lesson}/rounds/{round}/description?effect=true"
    return room.done("PUT", path, who, json=body)


def lesson_of(room: Room, wrong: tuple[int, ...] = (), **more: Any) -> str:
    """A lesson in which ann has described 24 responses, some of them as if they were others."""
    lesson = room.lesson(**WORDS | more)
    for number in range(1, COUNT + 1):
        round = _ask(room, lesson, number % 3, room.ann)
        _describe(room, lesson, round, room.ann, description=SAID[(number + (number in wrong)) % 3])
    return lesson


def test_a_teacher_is_asked_before_a_doubtful_description_is_stored(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19))
    round = _ask(room, lesson, 0, room.ann)
    path = f"/lessons/{lesson}/rounds/{round}/question"
    events = len(room.log(lesson))
    assert room.send("POST", path, room.ann, json={"description": SAID[0]}).status_code == 204
    asked = room.done("POST", path, room.ann, json={"description": SAID[1]})
    assert asked["right"] < 0.5
    assert asked["looks_like"] == SAID[0]
    assert asked["says"].startswith("Really “went right”?")
    assert len(room.log(lesson)) == events  # nothing is stored
    refused = room.send("POST", path, room.ben, json={"description": SAID[1]})
    assert refused.status_code == 409  # the response was given to ann
    # The correction teaches. What was said first, without a hint, is what counts.
    told = _describe(room, lesson, round, room.ann, description=SAID[0], sure=True, first=SAID[1])
    assert (told["matched"], told["saw_request"]) == (False, False)
    last = room.log(lesson, kinds=[Kind.DESCRIBED])[-1].data
    assert (last["description"], last["first"], last["sure"]) == (SAID[0], SAID[1], True)


def test_a_question_is_the_same_whatever_was_requested(room: Room) -> None:
    answers = []
    for request in ("went left", "stood still"):
        lesson = lesson_of(room, wrong=(14, 19))
        body = {"instruction": request, "features": [PLACES[0]]}
        room.done("POST", f"/lessons/{lesson}/rounds", json=body)
        round = room.claimed(lesson, room.ann)
        path = f"/lessons/{lesson}/rounds/{round}/question"
        answers.append(room.done("POST", path, room.ann, json={"description": SAID[2]}))
    assert answers[0] == answers[1]


def test_a_teacher_is_asked_later_and_may_stand_by_it_or_correct_it(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19), doubt="weigh")
    room.assert_rebuilt(lesson)
    assert len(room.inside.learner(lesson).agent.left_out) == 2
    assert room.send("POST", f"/lessons/{lesson}/questions", room.ben).status_code == 204
    first = room.done("POST", f"/lessons/{lesson}/questions", room.ann)
    assert first["round"] in (14, 19)
    before = room.log(lesson, round=first["round"])[-1].data
    kept = _describe(
        room, lesson, first["round"], room.ann, description=first["description"], sure=True
    )
    assert kept["new"]  # that the teacher stands by it is a new event
    after = room.log(lesson, round=first["round"])[-1].data
    assert after == before | {"sure": True}  # what was blind stays blind
    other = room.done("POST", f"/lessons/{lesson}/questions", room.ann)
    assert other["round"] != first["round"]
    right = SAID[other["round"] % 3]
    told = _describe(room, lesson, other["round"], room.ann, description=right, sure=True)
    assert told["saw_request"]  # the request was shown after the first description
    assert room.send("POST", f"/lessons/{lesson}/questions", room.ann).status_code == 204
    room.assert_rebuilt(lesson)


def test_reviewers_accept_correct_or_send_what_is_doubtful_or_flagged(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19), doubt="weigh")
    flagged = _ask(room, lesson, 0, room.ann)
    outcome = {"outcome": "flagged", "note": "black picture"}
    room.done("PUT", f"/lessons/{lesson}/rounds/{flagged}/outcome", room.ann, json=outcome)
    place = f"/lessons/{lesson}/inbox"
    assert room.send("GET", place, room.ann).status_code == 403
    found = {one["round"]: one for one in room.done("GET", place)["rounds"]}
    assert found.keys() == {14, 19, flagged}
    assert "instruction" not in found[14]
    assert [why["kind"] for why in found[14]["reasons"]] == ["doubtful"]
    assert "black picture" in found[flagged]["reasons"][0]["says"]

    def review(round: int, **body: Any) -> Any:
        return room.done("PUT", f"/lessons/{lesson}/rounds/{round}/review", json=body)

    review(14, outcome="accepted")
    assert room.log(lesson, round=14, kinds=[Kind.DESCRIBED])[-1].account == room.ids["ann"]
    review(19, outcome="corrected", description=SAID[19 % 3])
    assert review(flagged, outcome="sent")["status"] == "open"
    assert room.done("GET", place)["rounds"] == []
    room.assert_rebuilt(lesson)
    refused = room.send("PUT", f"/lessons/{lesson}/rounds/14/review", json={"outcome": "corrected"})
    assert refused.json()["field"] == "description"


def test_a_round_that_is_sent_to_another_is_no_blind_description(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14,))
    room.done("PUT", f"/lessons/{lesson}/rounds/14/review", json={"outcome": "sent"})
    assert room.send("POST", f"/lessons/{lesson}/claims", room.ann).status_code == 204
    assert room.claimed(lesson, room.ben) == 14
    told = _describe(room, lesson, 14, room.ben, description=SAID[14 % 3])
    assert (told["second"], told["agrees"], told["saw_request"]) == (True, False, True)
    reasons = room.done("GET", f"/lessons/{lesson}/inbox")["rounds"][0]["reasons"]
    assert [why["kind"] for why in reasons] == ["doubtful", "disagreeing"]


def test_second_descriptions_are_asked_for_where_the_first_is_doubtful(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19), second_share=0.1)
    wants = {}
    for said in (SAID[0], SAID[1]):
        round = _ask(room, lesson, 0, room.ann)
        _describe(room, lesson, round, room.ann, description=said)
        with room.inside.database.read() as connection:
            wants[said] = find_round(connection, lesson, round).wants_second
    assert wants == {SAID[0]: False, SAID[1]: True}


def test_progress_says_how_reliable_each_teacher_is(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19))
    (ann,) = room.done("GET", f"/lessons/{lesson}/progress")["teachers"]
    share = ann["reliability"]
    assert share["low"] <= 22 / 24 <= share["high"]  # three responses tell little for sure
    assert share["low"] < share["share"] < share["high"]
    assert share["n"] == COUNT


def test_none_of_them_speaks_against_the_description_and_not_against_who_checks(
    room: Room,
) -> None:
    lesson = lesson_of(room, wrong=(14, 19))
    (before,) = room.done("GET", f"/lessons/{lesson}/progress")["teachers"]
    check = f"/lessons/{lesson}/rounds/3/check"
    for _ in range(2):  # the second time is the same check
        told = room.done("PUT", check, room.ben, json={"response": None})
        assert told["right"] is False
    assert room.send("PUT", check, room.ben, json={"response": 0}).status_code == 409
    assert room.send("PUT", check, room.ben, json={}).status_code == 422
    progress = room.done("GET", f"/lessons/{lesson}/progress")
    assert (progress["checks"]["share"], progress["checks"]["n"]) == (0, 1)
    (ann,) = progress["teachers"]  # who only checks has no share of right descriptions
    assert ann["reliability"]["share"] < before["reliability"]["share"]
    # A pick tells of who checks only if they describe, too.
    room.done(
        "PUT", f"/lessons/{lesson}/rounds/4/check", room.ben, json={"response": told["response"]}
    )
    assert len(room.done("GET", f"/lessons/{lesson}/progress")["teachers"]) == 1


def test_what_was_asked_and_reviewed_can_be_exported_and_imported(room: Room) -> None:
    lesson = lesson_of(room, wrong=(14, 19), doubt="weigh")
    room.done("PUT", f"/lessons/{lesson}/rounds/14/review", json={"outcome": "accepted"})
    export = room.send("GET", f"/lessons/{lesson}/export").content
    copy = room.lesson(**WORDS, doubt="weigh")
    headers = {"Content-Type": "application/jsonl"}
    room.done("POST", f"/lessons/{copy}/import", content=export, headers=headers)
    assert room.log(copy, kinds=[Kind.DESCRIBED])[-1].data["sure"]
    assert len(room.inside.learner(copy).agent.left_out) == 2


def test_nobody_is_asked_about_a_second_description_because_that_would_tell_the_first(
    room: Room,
) -> None:
    lesson = lesson_of(room, wrong=(14, 19), second_share=1.0)
    round = room.claimed(lesson, room.ben)  # ann has described it
    path = f"/lessons/{lesson}/rounds/{round}/question"
    for said in SAID:
        assert room.send("POST", path, room.ben, json={"description": said}).status_code == 204
