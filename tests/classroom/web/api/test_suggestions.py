"""Suggestions by a program are recorded as such, and do not count as a person's own words."""

from __future__ import annotations

import json

import pytest

from tests.support.api_room import Room, client_of


def suggested(room: Room, lesson: str, round: int, description: int = 2) -> dict[str, object]:
    body = {"description": description, "by": "seer-7b"}
    found: dict[str, object] = room.done(
        "PUT", f"/lessons/{lesson}/rounds/{round}/suggestion", json=body
    )
    return found


@pytest.mark.parametrize(
    ("said", "took", "edited", "ignored"),
    [
        (2, True, False, False),
        (2, False, False, False),
        (0, True, True, False),
        (0, False, False, True),
    ],
)
def test_a_teacher_accepts_edits_or_ignores_and_the_log_has_it(
    room: Room, said: int, took: bool, edited: bool, ignored: bool
) -> None:
    lesson = room.lesson()
    room.ask(lesson)
    assert suggested(room, lesson, 1)["new"]
    assert not suggested(room, lesson, 1)["new"]
    claim = room.done("POST", f"/lessons/{lesson}/claims", room.ann)
    assert claim["suggestion"] == {"description": 2, "by": "seer-7b"}
    told = {"description": said, "took_suggestion": took}
    answer = room.done("PUT", f"/lessons/{lesson}/rounds/1/description", room.ann, json=told)
    assert (answer["saw_request"], answer["matched"]) == (True, None)
    state = room.done("GET", f"/lessons/{lesson}/rounds/1")
    assert state["suggested"] == {"by": "seer-7b", "edited": edited, "ignored": ignored}
    assert room.done("GET", f"/lessons/{lesson}/progress")["matches"] is None
    room.assert_rebuilt(lesson)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    copy = room.lesson()
    room.done("POST", f"/lessons/{copy}/import", content=lines)
    assert room.done("GET", f"/lessons/{copy}/rounds/1")["suggested"] == state["suggested"]
    log = room.send("GET", f"/lessons/{copy}/export?format=log").content.splitlines()
    assert json.loads(log[-1])["teacher_saw_request"] is True


def test_blind_words_stay_blind(room: Room) -> None:
    lesson = room.lesson(second_share=1.0)
    room.ask(lesson)
    assert room.claimed(lesson, room.ann) == 1
    path = f"/lessons/{lesson}/rounds/1/suggestion"
    late = room.send("PUT", path, json={"description": 1, "by": "seer-7b"})
    assert (late.status_code, late.json()["code"]) == (409, "claimed")
    assert room.tell(lesson, 1, 0, room.ann)["saw_request"] is False
    late = room.send("PUT", path, json={"description": 1, "by": "seer-7b"})
    assert (late.status_code, late.json()["code"]) == (409, "described")
    # The second teacher is shown no suggestion, whatever the first one had.
    room.ask(lesson)
    suggested(room, lesson, 2)
    assert room.done("POST", f"/lessons/{lesson}/claims", room.ann)["round"] == 2
    room.tell(lesson, 2, 2, room.ann)
    for _ in range(2):
        claim = room.done("POST", f"/lessons/{lesson}/claims", room.ben)
        assert claim["suggestion"] is None
        assert room.tell(lesson, claim["round"], 2, room.ben)["saw_request"] is False


def test_a_suggestion_comes_too_late_for_a_round_that_its_own_account_has_claimed(
    room: Room,
) -> None:
    lesson = room.lesson()
    room.ask(lesson)
    assert room.claimed(lesson, room.engineer) == 1
    body = {"description": 1, "by": "seer-7b"}
    late = room.send("PUT", f"/lessons/{lesson}/rounds/1/suggestion", json=body)
    assert (late.status_code, late.json()["code"]) == (409, "claimed")
    assert room.done("POST", f"/lessons/{lesson}/claims", room.engineer)["suggestion"] is None


def test_what_was_rolled_back_or_deleted_is_not_shown(room: Room) -> None:
    lesson = room.lesson()
    room.ask(lesson)
    suggested(room, lesson, 1)
    room.done("POST", f"/lessons/{lesson}/rollback", json={"to": 1})
    assert room.done("POST", f"/lessons/{lesson}/claims", room.ann)["suggestion"] is None
    room.ask(lesson)
    suggested(room, lesson, 2, description=3)
    room.done("DELETE", f"/lessons/{lesson}/teachers/eng/data", room.admin)
    assert room.done("POST", f"/lessons/{lesson}/claims", room.ben)["suggestion"] is None


def test_only_engineers_suggest_and_only_what_fits_the_lesson(room: Room) -> None:
    lesson = room.lesson()
    room.ask(lesson)
    path = f"/lessons/{lesson}/rounds/1/suggestion"
    body = {"description": 1, "by": "seer-7b"}
    assert room.send("PUT", path, room.ann, json=body).status_code == 403
    for wrong, field in (
        (body | {"description": "words"}, "description"),
        (body | {"by": " "}, "by"),
    ):
        answer = room.send("PUT", path, json=wrong)
        assert (answer.status_code, answer.json()["field"]) == (422, field)
    there = client_of(room).lesson(lesson)
    assert there.suggest(1, 3, by="seer-7b")["round"] == 1
