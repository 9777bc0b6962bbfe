"""Rollback and redaction over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Kind, read_events, writing
from tellback.classroom.store.rollback import roll_back
from tellback.classroom.store.seen import mark_seen
from tellback.classroom.store.tables import answers, checkpoints, events, rounds
from tests.support.api_room import API, FEATURES, Room, opened_room
from tests.support.classroom_parts import active_after


def test_one_can_go_back_to_any_event_and_back_again(room: Room) -> None:
    lesson = room.taught(6)
    states = {}
    for to in (0, 3, 8, 12):
        with room.inside.database.read() as connection:
            happened = [one for one in read_events(connection, lesson) if one.seq <= to]
        states[to] = active_after(happened)
    for to in (3, 8, 0, 12):
        answer = room.done("POST", f"/lessons/{lesson}/rollback", json={"to": to})
        assert answer["descriptions"] == len(states[to])
        assert room.active(lesson) == states[to]
        room.assert_rebuilt(lesson)
    late = room.done("GET", f"/lessons/{lesson}/rounds/6")
    assert late["status"] == "described"


def test_a_rollback_to_an_event_that_has_not_happened_is_refused(room: Room) -> None:
    lesson = room.taught(1)
    answer = room.send("POST", f"/lessons/{lesson}/rollback", json={"to": 3})
    assert (answer.status_code, answer.json()["field"]) == (422, "to")
    assert len(room.log(lesson)) == 2


def test_many_roll_backs_take_no_longer_than_one_look_at_each(room: Room) -> None:
    lesson = room.taught(2)
    with writing(room.inside.database, lesson) as log:
        for _ in range(60):  # to replay each of them would take 2 ** 60 steps
            log.append(Kind.ROLLED_BACK, {"to": log.latest})
        assert roll_back(log, log.latest, "me") == 2


def test_a_roll_back_takes_back_second_descriptions_and_skips_too(room: Room) -> None:
    lesson = room.lesson(second_share=1.0)
    room.ask(lesson)
    room.ask(lesson)
    assert room.claimed(lesson, room.ann) == 1
    room.tell(lesson, 1, 0, room.ann)
    back = len(room.log(lesson))
    assert room.claimed(lesson, room.ben) == 1
    assert room.tell(lesson, 1, 0, room.ben)["second"]
    assert room.claimed(lesson, room.ben) == 2
    room.done("PUT", f"/lessons/{lesson}/rounds/2/outcome", room.ben, json={"outcome": "skipped"})
    room.done("POST", f"/lessons/{lesson}/rollback", json={"to": back})
    with room.inside.database.read() as connection:
        query = select(rounds.c.status, rounds.c.second).where(rounds.c.lesson == lesson)
        found = connection.execute(query.order_by(rounds.c.number)).all()
    assert [tuple(row) for row in found] == [("described", None), ("open", None)]
    # The second description is wanted again, but not by who has seen the request.
    assert room.claimed(lesson, room.ben) == 2
    assert room.claimed(lesson, room.engineer) == 1


def test_a_teachers_words_are_deleted_and_unlearned(room: Room) -> None:
    lesson = room.lesson(instructions=None, agent=None, second_share=1.0)
    for name, words in (("ann", "xylophone over there"), ("ben", "a drum right here")):
        body = {"instruction": "play something", "features": FEATURES}
        room.done("POST", f"/lessons/{lesson}/rounds", json=body)
        who = getattr(room, name)
        number = room.claimed(lesson, who)
        path = f"/lessons/{lesson}/rounds/{number}"
        room.done("PUT", f"{path}/description", who, json={"description": words})
        with writing(room.inside.database, lesson) as log:
            # Seconds come first when claimed: not here.
            change = update(rounds).where(rounds.c.lesson == lesson)
            log.connection.execute(change.values(wants_second=False))
    answer = room.send("DELETE", f"/lessons/{lesson}/teachers/{room.ids['ann']}/data")
    assert answer.status_code == 403  # an engineer may not
    path = f"/lessons/{lesson}/teachers/{room.ids['ann']}/data"
    done = {"teacher": room.ids["ann"], "events": 1, "lessons": 1, "scrubbed": True}
    assert room.done("DELETE", path, room.admin) == done
    assert room.done("DELETE", path, room.admin)["events"] == 0  # to ask again is no harm
    first = room.done("GET", f"/lessons/{lesson}/rounds/1")
    assert (first["status"], first["description"]) == ("open", None)
    told = [one for one in room.log(lesson) if one.kind is Kind.DESCRIBED]
    assert [one.redacted for one in told] == [True, False]
    assert list(room.active(lesson)) == [2]
    room.assert_rebuilt(lesson)
    assert (
        "xylophone"
        not in room.http.get(f"{API}/lessons/{lesson}/export", headers=room.engineer).text
    )
    assert room.claimed(lesson, room.ben) == 1  # it is there for others


def test_words_are_deleted_by_the_name_of_their_teacher_too(room: Room) -> None:
    lesson = room.lesson()
    for number in (1, 2):
        room.ask(lesson)
        assert room.claimed(lesson, room.ann) == number
        room.tell(lesson, number, 0, room.ann)
    done = {"teacher": room.ids["ann"], "events": 2, "lessons": 1, "scrubbed": True}
    assert room.done("DELETE", f"/lessons/{lesson}/teachers/ann/data", room.admin) == done
    assert room.active(lesson) == {}


@pytest.mark.parametrize("nobody", ["t2", "an", "f" * 20, "Ann%20Lee", "%00", "you"])
def test_a_deletion_for_an_unknown_account_is_not_found(room: Room, nobody: str) -> None:
    lesson = room.lesson()
    for path in (f"/lessons/{lesson}/teachers/{nobody}/data", f"/teachers/{nobody}/data"):
        answer = room.send("DELETE", path, room.admin)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    if nobody == "an":
        assert "Did you mean 'ann'?" in answer.json()["detail"]


def test_words_of_an_author_without_an_account_are_deleted(room: Room) -> None:
    lesson = room.taught(1)  # a recording, or a classroom that had no accounts at first
    with writing(room.inside.database, lesson) as log:
        mine = update(events).where(events.c.lesson == lesson, events.c.kind == "described")
        log.connection.execute(mine.values(account="recording"))
    answer = room.done("DELETE", f"/lessons/{lesson}/teachers/recording/data", room.admin)
    assert (answer["teacher"], answer["events"]) == ("recording", 1)


def _chores(room: Room) -> str:
    """A lesson of own material, of which ann has said much, and ben a little."""
    texts = "text\n" + "".join(f"a cup of tea {number}\n" for number in range(12))
    params = {"name": "chores", "format": "csv", "candidates": 3}
    made = room.done("POST", "/lessons/import", params=params, content=texts)
    lesson: str = made["id"]
    for number in range(16):
        round = room.done("POST", f"/lessons/{lesson}/claims", room.ann)["round"]
        room.tell(lesson, round, f"zorblax {number}" if number % 2 else "hot", room.ann)
    room.claimed(lesson, room.ben)
    return lesson


def test_words_are_deleted_from_the_requests_that_were_made_of_them(room: Room) -> None:
    lesson = _chores(room)
    asked = [one for one in room.log(lesson) if one.kind is Kind.ASKED]
    made = {one.round for one in asked if "zorblax" in one.data["instruction"]}
    hot = {one.round for one in asked if one.data["instruction"] == "hot"}
    assert made
    assert hot
    claimed = room.claimed(lesson, room.ben)
    room.tell(lesson, claimed, "hot", room.ben)  # what others say, too, stays a request
    room.done("DELETE", f"/lessons/{lesson}/teachers/ann/data", room.admin)
    assert "zorblax" not in room.send("GET", f"/lessons/{lesson}/export").text
    assert not room.done("GET", f"/lessons/{lesson}/rounds?q=zorblax")["rounds"]
    now = {one.round: one.data for one in room.log(lesson) if one.kind is Kind.ASKED}
    assert {(now[one]["instruction"], now[one]["part"]) for one in made} == {("anything", "first")}
    assert {now[one]["instruction"] for one in hot} == {"hot"}
    room.assert_rebuilt(lesson)
    copy = room.send("GET", f"/lessons/{lesson}/export").content
    assert room.send("POST", f"/lessons/{lesson}/import", content=copy).status_code == 201


def test_words_are_deleted_from_known_answers_that_were_entered_later(room: Room) -> None:
    lesson = room.lesson(instructions=None, agent=None, match={"kind": "same"}, catch=0.5)
    path = f"/lessons/{lesson}/rounds"
    task = {"instruction": "zorblax", "features": FEATURES}
    answers = {"answers": ["dark"]}
    before = room.done("POST", path, json=task | {"acted": {"response": 0}, "known": answers})
    room.done("POST", path, json=task)
    mark_seen(room.inside.database, lesson, room.ids["ann"], [1])  # it was given to ann
    room.tell(lesson, 1, "dark", room.ann)
    round = room.claimed(lesson, room.ann)
    room.tell(lesson, round, "zorblax zorblax", room.ann)
    made = [["zorblax zorblax"], ["zorblax zorblax", "dim"]]
    one, two = (
        room.done("POST", f"{path}/{round}/known", json={"answers": each})["round"] for each in made
    )
    room.done("DELETE", f"/lessons/{lesson}/teachers/ann/data", room.admin)
    known = room.done("GET", f"/lessons/{lesson}/known")["rounds"]
    assert {each["round"]: each["answers"] for each in known} == {
        before["round"]: ["dark"],  # it was there before ann said the same
        two: ["dim"],
    }
    assert room.done("GET", f"{path}/{one}")["status"] == "cannot_tell"
    assert room.done("GET", f"{path}/{one}")["instruction"] == "zorblax"  # a program's
    assert "zorblax zorblax" not in room.send("GET", f"/lessons/{lesson}/export").text
    room.assert_rebuilt(lesson)


def test_redacted_words_are_in_no_file(tmp_path: Path) -> None:
    room = opened_room(f"sqlite:///{tmp_path}/classroom.db")
    lesson = room.lesson(instructions=None, agent=None)
    words = "quetzalcoatlus"
    for number in range(1, 4):
        body = {"instruction": "fly", "features": FEATURES}
        headers = {"Idempotency-Key": f"k{number}"}
        room.done("POST", f"/lessons/{lesson}/rounds", json=body, headers=headers)
        description = {"description": f"{words} {number}"}
        room.done("PUT", f"/lessons/{lesson}/rounds/{number}/description", json=description)
    learner = room.inside.learner(lesson)
    learner.catch_up()
    assert learner.keep_checkpoint()
    assert _holding(tmp_path, words)
    # One process has learned the words, another deletes them before the first keeps its state.
    stale = Learner(room.inside.database, _found(room, lesson))
    other = opened_room(f"sqlite:///{tmp_path}/classroom.db")
    answer = other.done("DELETE", f"/teachers/{other.ids['eng']}/data", other.admin)
    done = {"teacher": other.ids["eng"], "events": 3, "lessons": 1, "scrubbed": True}
    assert answer == done
    assert not _holding(tmp_path, words)
    assert not stale.keep_checkpoint()
    with room.inside.database.read() as connection:
        assert not connection.execute(select(checkpoints)).all()
        assert not connection.execute(
            select(answers).where(answers.c.account == room.ids["eng"])
        ).all()
    room.assert_rebuilt(lesson)  # the first process too
    assert room.inside.learner(lesson).agent.learned == 0
    for one in (room, other):
        one.http.close()
        one.inside.database.close()


def _found(room: Room, lesson: str) -> Any:
    with room.inside.database.read() as connection:
        return find_lesson(connection, lesson)


def _holding(folder: Path, words: str) -> list[str]:
    """The files that hold some words: the database, its log, and whatever else there is."""
    return [file.name for file in folder.iterdir() if words.encode() in file.read_bytes()]
