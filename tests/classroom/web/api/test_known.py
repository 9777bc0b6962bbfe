"""Items with known answers: practice, and items that catch carelessness."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tellback.classroom.store.log import Kind
from tellback.classroom.store.seen import mark_seen
from tellback.classroom.web import classroom
from tests.support.api_room import Room

WORDS: dict[str, Any] = {"instructions": None, "agent": None, "match": {"kind": "same"}}
PLACES = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SAID = ("went left", "went right", "stood still")


def _round(place: int, **more: Any) -> dict[str, Any]:
    return {"instruction": "go", "features": PLACES, "acted": {"response": place}} | more


def _item(room: Room, lesson: str, place: int, **known: Any) -> int:
    """A round of which it is known what may be said."""
    body = _round(place, known={"answers": [SAID[place]]} | known)
    number: int = room.done("POST", f"/lessons/{lesson}/rounds", json=body)["round"]
    return number


def _given(room: Room, lesson: str, *items: int) -> None:
    """Items that ann and ben were given before, as by claims."""
    for name in ("ann", "ben"):
        mark_seen(room.inside.database, lesson, room.ids[name], items)


def _claim(room: Room, lesson: str, who: dict[str, str]) -> Any:
    return room.done("POST", f"/lessons/{lesson}/claims", who)


def _say(room: Room, lesson: str, round: int, said: Any, who: dict[str, str]) -> Any:
    path = f"/lessons/{lesson}/rounds/{round}/description?effect=true"
    return room.done("PUT", path, who, json={"description": said})


def _reliability(room: Room, lesson: str, name: str) -> Any:
    teachers = room.done("GET", f"/lessons/{lesson}/progress")["teachers"]
    return next((one["reliability"] for one in teachers if one["name"] == name), None)


def test_practice_comes_first_and_tells_the_answers_gently(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    items = [_item(room, lesson, place, practice=True) for place in (0, 1)]
    other = room.done("POST", f"/lessons/{lesson}/rounds", json=_round(2))["round"]
    first = _claim(room, lesson, room.ann)
    assert (first["round"], first["practice"]) == (items[0], True)
    assert _claim(room, lesson, room.ann) == first | {
        "until": pytest.approx(first["until"], abs=60)
    }
    told = _say(room, lesson, items[0], "it went left, I think", room.ann)
    assert told["practice"] == {"right": True, "answers": ["went left"]}
    # Others get the same items: nobody has to wait for them.
    assert _claim(room, lesson, room.ben)["round"] == items[0]
    assert _claim(room, lesson, room.ann)["round"] == items[1]
    told = _say(room, lesson, items[1], "sprang aside", room.ann)
    assert told["practice"] == {"right": None, "answers": ["went right"]}  # nobody can tell yet
    again = _say(room, lesson, items[1], "went right", room.ann)
    assert not again["new"]  # the answer was told by then
    assert _claim(room, lesson, room.ann)["round"] == other
    _say(room, lesson, other, SAID[2], room.ann)
    room.done("POST", f"/lessons/{lesson}/rounds", json=_round(2))
    late = _item(room, lesson, 2, practice=True)
    assert _claim(room, lesson, room.ann)["round"] == late  # to who has begun, it comes next


def test_known_answers_teach_the_agent_nothing(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    item = _item(room, lesson, 0, practice=True)
    _given(room, lesson, item)
    told = _say(room, lesson, item, SAID[0], room.ann)
    assert told["effect"]["learned"] == 0
    progress = room.done("GET", f"/lessons/{lesson}/progress")
    assert (progress["described"], progress["taught"]) == (0, 0)
    assert progress["statuses"] == {"known": 1}
    room.assert_rebuilt(lesson)


def test_an_answer_that_is_taken_back_counts_no_longer_and_may_be_given_again(room: Room) -> None:
    lesson = room.lesson(**WORDS, catch=0.5)
    item = _item(room, lesson, 0, only=True)
    _given(room, lesson, item)
    path = f"/lessons/{lesson}/rounds/{item}/description"

    def described() -> Any:
        return room.done("GET", f"/lessons/{lesson}/curve", room.ann)["described"]

    _say(room, lesson, item, SAID[1], room.ann)
    assert described() == 1
    assert _reliability(room, lesson, "ann") is not None
    room.done("DELETE", path, room.ann)
    assert described() == 0
    assert _reliability(room, lesson, "ann") is None
    _say(room, lesson, item, SAID[0], room.ann)
    assert described() == 1
    room.assert_rebuilt(lesson)


def test_items_that_catch_carelessness_look_like_any_other(room: Room) -> None:
    lesson = room.lesson(**WORDS, catch=0.5)
    items = {_item(room, lesson, place) for place in (0, 1, 2)}
    for place in range(20):
        room.done("POST", f"/lessons/{lesson}/rounds", json=_round(place % 3))
    met, shown, told = [], set(), set()
    for _ in range(14):
        claimed = _claim(room, lesson, room.ann)
        assert _claim(room, lesson, room.ann)["round"] == claimed["round"]
        met.append(claimed["round"])
        answer = _say(room, lesson, claimed["round"], SAID[claimed["response"]], room.ann)
        shown.add((frozenset(claimed), claimed["practice"], claimed["suggestion"]))
        told.add((frozenset(answer), answer["practice"], answer["part"], answer["second"]))
        curve = room.done("GET", f"/lessons/{lesson}/curve", room.ann)
        assert curve["described"] == len(met)  # the count of the page moves as usual
    changed = [_say(room, lesson, round, "fell over", room.ann)["saw_request"] for round in met]
    assert all(changed)
    assert items < set(met)
    assert len(met) == len(set(met))  # none comes twice
    assert sorted(items & set(met[:3])) != sorted(items)  # they come among the others
    assert len(shown) == len(told) == 1  # nothing tells them apart


def test_an_item_that_was_not_given_is_refused_as_any_other(room: Room) -> None:
    lesson = room.lesson(**WORDS, catch=0.5)
    item = _item(room, lesson, 0)
    other = room.done("POST", f"/lessons/{lesson}/rounds", json=_round(0))["round"]

    def answers(number: int) -> list[Any]:
        path = f"/lessons/{lesson}/rounds/{number}"
        said = {"description": SAID[0]}
        sent = [
            room.send("PUT", f"{path}/claim", room.ann),
            room.send("POST", f"{path}/question", room.ann, json=said),
            room.send("PUT", f"{path}/description?effect=true", room.ann, json=said),
            room.send("PUT", f"{path}/outcome", room.ann, json={"outcome": "skipped"}),
            room.send("DELETE", f"{path}/description", room.ann),
            room.send("PUT", f"{path}/check", room.ann, json={"response": 0}),
            room.send("PUT", f"{path}/judgement", room.ann, json={"met": True}),
        ]
        return [(one.status_code, one.text.replace(str(number), "N")) for one in sent]

    assert answers(item) == answers(other)
    assert [status for status, _ in answers(item)[:4]] == [404, 409, 409, 409]
    assert not room.log(lesson, kinds=[Kind.ANSWERED])


def test_an_item_is_held_from_its_claim_to_its_answer_as_any_other(room: Room) -> None:
    lesson = room.lesson(**WORDS, catch=0.5)
    items = {_item(room, lesson, place, only=True) for place in (0, 1, 2)}
    for place in range(20):
        room.done("POST", f"/lessons/{lesson}/rounds", json=_round(place % 3))
    held = set()
    for _ in range(14):
        claimed = _claim(room, lesson, room.ann)
        path = f"/lessons/{lesson}/rounds/{claimed['round']}"
        found = [room.send("PUT", f"{path}/claim", room.ann).status_code]
        _say(room, lesson, claimed["round"], SAID[0], room.ann)
        found.append(room.send("PUT", f"{path}/claim", room.ann).status_code)
        room.done("DELETE", f"{path}/description", room.ann)
        found.append(room.send("PUT", f"{path}/claim", room.ann).status_code)
        _say(room, lesson, claimed["round"], SAID[0], room.ann)
        held.add((claimed["round"] in items, *found))
    assert held == {(known, 204, 404, 204) for known in (True, False)}


def test_nobody_can_compute_when_an_item_comes_unless_a_seed_is_given(room: Room) -> None:
    def seed(**given: int) -> Any:
        lesson = room.lesson(**WORDS, **given)
        return room.done("GET", f"/lessons/{lesson}")["definition"]["seed"]

    assert seed() == classroom.secret_seed()
    assert seed(seed=3) == 3
    assert "seed" not in room.done("GET", f"/lessons/{room.lesson()}", room.ann)["definition"]


def test_without_a_share_no_item_catches_anybody_until_it_is_set(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    item = _item(room, lesson, 0)
    assert room.send("POST", f"/lessons/{lesson}/claims", room.ann).status_code == 204
    room.done("PATCH", f"/lessons/{lesson}", json={"catch": 0.5, "guide": "Look twice."})
    about = room.done("GET", f"/lessons/{lesson}")["definition"]
    assert (about["catch"], about["guide"]) == (0.5, "Look twice.")
    claims = [room.send("POST", f"/lessons/{lesson}/claims", who) for who in (room.ann, room.ben)]
    assert {one.status_code for one in claims} <= {200, 204}
    assert all(one.json()["round"] == item for one in claims if one.status_code == 200)
    assert room.send("PATCH", f"/lessons/{lesson}", json={"catch": 0.9}).status_code == 422


def test_known_answers_tell_the_careless_from_the_careful(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    items = [_item(room, lesson, place % 3, only=True, practice=True) for place in range(12)]
    _given(room, lesson, *items)
    for item, place in zip(items, range(12), strict=True):
        _say(room, lesson, item, SAID[place % 3], room.ann)
        _say(room, lesson, item, SAID[0], room.ben)  # whatever it was
    round = room.done("POST", f"/lessons/{lesson}/rounds", json=_round(0))["round"]
    room.claimed(lesson, room.ann)
    _say(room, lesson, round, SAID[0], room.ann)
    ann, ben = (_reliability(room, lesson, name) for name in ("ann", "ben"))
    assert ann["low"] > 0.75
    assert (ann["high"], ann["n"]) == (1.0, 12)
    assert ben["low"] < 4 / 12 < ben["high"] < 0.65


def test_in_a_table_of_instructions_only_the_answers_are_right(room: Room) -> None:
    lesson = room.lesson()
    body = {"instruction": 0, "features": PLACES, "acted": {"response": 1}}
    known = {"answers": [2, 3], "practice": True}
    item = room.done("POST", f"/lessons/{lesson}/rounds", json=body | {"known": known})["round"]
    _given(room, lesson, item)
    assert _say(room, lesson, item, 3, room.ann)["practice"]["right"] is True
    assert _say(room, lesson, item, 1, room.ben)["practice"]["right"] is False
    refused = room.send(
        "POST", f"/lessons/{lesson}/rounds", json=body | {"known": {"answers": [7]}}
    )
    assert refused.json()["field"] == "known.answers"
    del body["acted"]
    refused = room.send("POST", f"/lessons/{lesson}/rounds", json=body | {"known": known})
    assert refused.json()["field"] == "acted"


def test_an_item_may_be_skipped_by_one_teacher_and_dropped_for_all(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    item = _item(room, lesson, 0, practice=True)
    _given(room, lesson, item)
    room.done(
        "PUT", f"/lessons/{lesson}/rounds/{item}/outcome", room.ann, json={"outcome": "skipped"}
    )
    assert room.send("POST", f"/lessons/{lesson}/claims", room.ann).status_code == 204
    assert _claim(room, lesson, room.ben)["round"] == item
    assert room.send("GET", f"/lessons/{lesson}/known", room.ann).status_code == 403
    assert [one["round"] for one in room.done("GET", f"/lessons/{lesson}/known")["rounds"]] == [
        item
    ]
    room.done("DELETE", f"/lessons/{lesson}/rounds/{item}/known")
    assert room.done("GET", f"/lessons/{lesson}/known")["rounds"] == []
    assert room.send("POST", f"/lessons/{lesson}/claims", room.ben).status_code == 204
    again = room.send("DELETE", f"/lessons/{lesson}/rounds/{item}/known")
    assert again.status_code == 409


def test_a_described_round_is_made_an_item_with_the_same_task(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    round = room.done("POST", f"/lessons/{lesson}/rounds", json=_round(1, context="a fork"))[
        "round"
    ]
    room.claimed(lesson, room.ann)
    _say(room, lesson, round, SAID[1], room.ann)
    made = room.done(
        "POST",
        f"/lessons/{lesson}/rounds/{round}/known",
        json={"answers": [SAID[1]], "practice": True},
    )
    claimed = _claim(room, lesson, room.ben)
    assert (claimed["round"], claimed["response"], claimed["context"]) == (
        made["round"],
        1,
        "a fork",
    )
    assert room.inside.learner(lesson).agent.learned == 1
    assert _say(room, lesson, made["round"], SAID[1], room.ben)["practice"]["right"]
    room.inside.learner(lesson).catch_up()
    assert room.inside.learner(lesson).agent.learned == 1


def test_a_rollback_takes_answers_back_and_leaves_the_items(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    items = [_item(room, lesson, 0, practice=True, only=True) for _ in range(8)]
    _given(room, lesson, *items)
    before = room.log(lesson)[-1].seq
    for item in items:
        _say(room, lesson, item, SAID[1], room.ann)
    room.done("DELETE", f"/lessons/{lesson}/rounds/{items[0]}/known")
    room.done("POST", f"/lessons/{lesson}/rollback", json={"to": before})
    assert len(room.done("GET", f"/lessons/{lesson}/known")["rounds"]) == 8
    assert _reliability(room, lesson, "ann") is None
    assert room.send("POST", f"/lessons/{lesson}/claims", room.ann).status_code == 204  # seen


def test_items_and_answers_are_exported_and_imported(room: Room) -> None:
    lesson = room.lesson(**WORDS)
    items = [_item(room, lesson, place, practice=True) for place in (0, 1)]
    _given(room, lesson, *items)
    _say(room, lesson, items[0], SAID[0], room.ann)
    room.done(
        "PUT", f"/lessons/{lesson}/rounds/{items[1]}/outcome", room.ann, json={"outcome": "skipped"}
    )
    export = room.send("GET", f"/lessons/{lesson}/export").content
    copy = room.lesson(**WORDS)
    room.done("POST", f"/lessons/{copy}/import", content=io.BytesIO(export).read())
    known = [room.done("GET", f"/lessons/{one}/known")["rounds"] for one in (lesson, copy)]
    assert known[0] == known[1]
    answered = [[one.data for one in room.log(id, kinds=[Kind.ANSWERED])] for id in (lesson, copy)]
    assert answered[0] == answered[1] == [{"description": SAID[0]}, {"outcome": "skipped"}]
    lines = export.splitlines()
    spoiled = json.loads(lines[1])
    del spoiled["data"]["known"]
    body = b"\n".join([lines[0], json.dumps(spoiled).encode(), *lines[2:]])
    refused = room.send("POST", f"/lessons/{copy}/import", content=body)
    assert refused.json()["field"] == "2.data.known"
