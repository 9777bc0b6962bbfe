"""Export and import over HTTP."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from tellback.classroom.learning.importing import AT_ONCE
from tellback.classroom.store import staging
from tellback.classroom.store.log import Kind, writing
from tellback.classroom.store.projection import rebuild_projection
from tellback.classroom.store.reports import agreement, checks
from tellback.classroom.store.rounds import read_rounds
from tellback.classroom.store.tables import rounds
from tellback.classroom.store.tasks import Content
from tellback.classroom.web import import_lines
from tellback.classroom.web.api import imports as imports_api
from tellback.responses import Listed
from tests.support.api_room import AGENT, DIM, FEATURES, Room, _kept_lesson, eventful
from tests.support.states import same_state


def test_a_lesson_taken_out_and_in_again_teaches_the_same(room: Room) -> None:
    lesson = eventful(room)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    happened = room.log(lesson)
    assert lines.count(b"\n") == 1 + len(happened)
    copy = room.lesson()
    answer = room.done("POST", f"/lessons/{copy}/import", content=lines)
    assert (answer["rounds"], answer["events"]) == (15, len(happened))
    assert room.active(copy) == room.active(lesson)
    room.assert_rebuilt(copy)
    assert same_state(room.rebuilt(copy).state(), room.rebuilt(lesson).state())
    again = [
        json.loads(line)
        for line in room.send("GET", f"/lessons/{copy}/export").text.split("\n")[1:-1]
    ]
    for line, event in zip(again, happened, strict=True):
        assert (line["seq"], line["kind"], line["round"]) == (event.seq, event.kind, event.round)


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the lines that are read in another process."""
    lengths: list[int] = []

    def noted(read: Any, line: bytes) -> Any:
        lengths.append(len(line))
        return read(line)

    monkeypatch.setattr(import_lines, "FOR_IMPORTS", noted)
    return lengths


@pytest.mark.parametrize("log", [True, False])
def test_long_lines_are_read_in_another_process_and_say_the_same(
    room: Room, beside: list[int], log: bool
) -> None:
    lesson = eventful(room)
    played = {"instruction": 1, "features": FEATURES, "response": 1, "description": 2}
    lines = [json.dumps(played)] * 3
    if log:
        lines = room.send("GET", f"/lessons/{lesson}/export").text.splitlines()
    copies = []
    for padding in ("", " " * 2**16):
        copy, text = room.lesson(), "\n".join(line[:1] + padding + line[1:] for line in lines[1:])
        room.done("POST", f"/lessons/{copy}/import", content=f"{lines[0]}\n{text}")
        copies.append(copy)
    assert len(beside) == len(lines) - 1
    assert room.active(copies[0]) == room.active(copies[1])
    assert same_state(room.rebuilt(copies[0]).state(), room.rebuilt(copies[1]).state())


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"more": [[1, 1]] * 150_000}, "more"),
        ({"features": [[1, 0], [0, "1"] + [1] * 40_000]}, "features.1"),
        ({"texts": ["a"] * 100_001}, "texts"),
        ({"seq": 1, "shown": {"features": [], "more": [[1, 1]] * 150_000}}, "more"),
    ],
)
def test_what_makes_a_line_long_must_be_candidates(
    room: Room, beside: list[int], line: Any, field: str
) -> None:
    answer = room.send("POST", f"/lessons/{room.lesson()}/import", content=json.dumps(line))
    assert (answer.status_code, answer.json()["field"]) == (422, f"1.{field}")
    assert beside


def test_rounds_of_an_import_are_as_the_log_says(room: Room) -> None:
    lesson, copy = eventful(room), room.taught(3, seed=1)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    room.done("POST", f"/lessons/{copy}/import", content=lines)
    query = select(rounds).where(rounds.c.lesson == copy).order_by(rounds.c.number)
    with writing(room.inside.database, copy) as log:
        imported = log.connection.execute(query).all()
        rebuild_projection(log)
        assert log.connection.execute(query).all() == imported


def test_a_lesson_is_not_locked_while_an_import_is_read(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson, other = room.lesson(), room.lesson()
    parse = import_lines._parsed

    def parsed(*given: Any) -> Any:
        with writing(room.inside.database, other):  # else this would wait for ever
            return parse(*given)

    monkeypatch.setattr(import_lines, "_parsed", parsed)
    answer = room.done("POST", f"/lessons/{lesson}/import", content=lines_of(*PLAYED))
    assert answer["rounds"] == 3


def test_a_long_import_is_written_in_slices_and_goes_on_where_it_stopped(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "AT_ONCE", 4)
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: others())
    monkeypatch.setattr(imports_api, "time", clock)
    lesson, path = room.lesson(), "/lessons/{}/import"
    body = lines_of(*PLAYED * 4)
    sent: dict[str, Any] = {
        "content": body,
        "headers": {"Idempotency-Key": f"slices {lesson}".replace(" ", "-")},
    }
    asked: list[int] = []

    def others() -> None:  # between two slices
        asked.append(room.ask(lesson)["round"])
        if len(asked) == 2:
            raise OperationalError("commit", {}, Exception("gone"))

    assert room.send("POST", path.format(lesson), **sent).status_code == 503
    answer = room.done("POST", path.format(lesson), **sent)
    assert (answer["rounds"], answer["descriptions"], answer["first_round"]) == (12, 8, 1)
    assert room.done("POST", path.format(lesson), **sent) == answer
    assert asked == [4, 8, 12, 16]
    with room.inside.database.read() as connection:
        found = read_rounds(connection, lesson, 0, 99)
    played = [one for one in found if one.row.number not in asked]
    assert [one.asked["instruction"] for one in played] == [1, 2, 0] * 4
    assert [one.told and one.told["description"] for one in played] == [3, None, 0] * 4
    room.assert_rebuilt(lesson)
    query = select(rounds).where(rounds.c.lesson == lesson).order_by(rounds.c.number)
    with writing(room.inside.database, lesson) as log:
        imported = log.connection.execute(query).all()
        rebuild_projection(log)
        assert log.connection.execute(query).all() == imported


def test_a_long_import_needs_a_key(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports_api, "MOST_AT_ONCE", 2)
    answer = room.send("POST", f"/lessons/{room.lesson()}/import", content=lines_of(*PLAYED))
    assert (answer.status_code, answer.json()["field"]) == (422, "Idempotency-Key")


def test_an_import_of_blank_lines_is_refused(room: Room) -> None:
    lines = lines_of(PLAYED[0])
    path = f"/lessons/{room.lesson()}/import"
    assert room.done("POST", path, content=lines + b"\n" * 1000 + lines)["rounds"] == 2
    answer = room.send("POST", path, content=lines + b" \n" * 1001 + lines)
    assert (answer.status_code, answer.json()["field"]) == (422, "1002.line")


def test_a_copy_can_be_added_to_a_lesson_that_has_begun(room: Room) -> None:
    lesson, begun = eventful(room), room.taught(3, seed=1)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    answer = room.done("POST", f"/lessons/{begun}/import", content=lines)
    assert answer["first_round"] == 4
    moved = {round + 3: seq + 6 for round, seq in room.active(lesson).items()}
    assert room.active(begun) == {1: 2, 2: 4, 3: 6} | moved
    room.assert_rebuilt(begun)


PLAYED = [
    {"instruction": 1, "features": FEATURES, "response": 2, "propensity": 0.25, "description": 3},
    {"instruction": 2, "features": FEATURES, "response": 0, "context": "at night"},
    {"instruction": 0, "features": FEATURES, "response": 1, "description": 0, "saw_request": True},
]


def lines_of(*played: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in played)


def test_rounds_played_elsewhere_are_taken_in_as_they_were_played(room: Room) -> None:
    lesson = room.lesson()
    key = {"Idempotency-Key": f"import-{lesson}"}
    path = f"/lessons/{lesson}/import"
    answer = room.done("POST", path, content=lines_of(*PLAYED), headers=key)
    assert answer == {"rounds": 3, "descriptions": 2, "first_round": 1, "events": 5}
    assert room.done("POST", path, content=lines_of(*PLAYED), headers=key) == answer
    other = room.send("POST", path, content=lines_of(PLAYED[0]), headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "key_reused")
    first, second, third = (room.done("GET", f"/lessons/{lesson}/rounds/{n}") for n in (1, 2, 3))
    assert (first["response"], first["propensity"], first["description"]) == (2, 0.25, 3)
    assert first["estimate"] is None
    assert (second["status"], second["propensity"]) == ("open", None)
    assert (third["saw_request"], third["matched"]) == (True, None)
    room.assert_rebuilt(lesson)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"{", "2.line"),
        (b"[]", "2.line"),
        (b"[" * 5000, "2.line"),
        (lines_of(PLAYED[0] | {"response": 3}), "2.response"),
        (lines_of(PLAYED[0] | {"response": "0"}), "2.response"),
        (lines_of(PLAYED[0] | {"instruction": 4}), "2.instruction"),
        (lines_of(PLAYED[0] | {"instruction": "a sentence"}), "2.instruction"),
        (lines_of(PLAYED[0] | {"description": 9}), "2.description"),
        (lines_of(PLAYED[0] | {"propensity": 0.0}), "2.propensity"),
        (lines_of(PLAYED[0] | {"features": [[1.0]]}), "2.features"),
        (lines_of(PLAYED[0] | {"features": [[float("nan")] * 3] * 3}), "2.features"),
        (lines_of(PLAYED[0] | {"reward": 1}), "2.reward"),
    ],
)
def test_an_import_is_all_or_nothing_and_names_the_line(
    room: Room, line: bytes, field: str
) -> None:
    lesson = _kept_lesson(room)
    content = lines_of(PLAYED[0]) + line
    answer = room.send("POST", f"/lessons/{lesson}/import", content=content)
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"].startswith(field)
    assert room.log(lesson) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_propensity_that_is_no_number_is_not_said_to_be_too_large(
    room: Room, value: float
) -> None:
    content = lines_of(PLAYED[0] | {"propensity": value})
    answer = room.send("POST", f"/lessons/{_kept_lesson(room)}/import", content=content)
    assert answer.json()["detail"] == "Line 1, propensity: Input should be a finite number."


@pytest.mark.parametrize(
    ("model", "features"), [("ridge", [[1e8, 0.0, 0.0], FEATURES[0]]), ("mixture", FEATURES)]
)
@pytest.mark.parametrize("response", [0, 1])
def test_an_import_refuses_what_the_agent_would_refuse(
    room: Room, model: str, features: list[list[float]], response: int
) -> None:
    lesson = room.lesson(agent={"kind": "loril", "model": {"kind": model}})
    fine = {"instruction": 0, "features": np.eye(DIM).tolist(), "response": 0, "description": 1}
    line = fine | {"features": features, "response": response}
    asked = room.send(
        "POST", f"/lessons/{lesson}/rounds", json={"instruction": 0, "features": features}
    )
    after = [fine] * (AT_ONCE // DIM + 1)  # it is found among others, too
    assert asked.status_code == 422
    for lines in ((fine, line), (fine, line, *after)):
        answer = room.send("POST", f"/lessons/{lesson}/import", content=lines_of(*lines))
        assert answer.status_code == 422
        assert answer.json()["field"] == "2.features"
        assert asked.json()["detail"].rstrip(".") in answer.json()["detail"]
    assert room.log(lesson) == []


def test_an_export_that_broke_off_is_not_taken_in(room: Room) -> None:
    lesson = room.taught(3)
    lines = room.send("GET", f"/lessons/{lesson}/export").content.splitlines(keepends=True)
    target = _kept_lesson(room)
    for broken in (lines[:-1], lines[:2] + lines[3:], [lines[0], *lines[2:]]):
        answer = room.send("POST", f"/lessons/{target}/import", content=b"".join(broken))
        assert answer.status_code == 422
        assert answer.json()["field"].endswith((".seq", ".round"))
    assert room.log(target) == []


def _copied(room: Room, lesson: str, **more: Any) -> str:
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    copy = room.lesson(**more)
    room.done("POST", f"/lessons/{copy}/import", content=lines)
    return copy


def test_a_copy_has_the_same_agreement_after_a_roll_back(room: Room) -> None:
    lesson = room.lesson(second_share=1.0)
    room.ask(lesson)
    assert room.claimed(lesson, room.ann) == 1
    room.tell(lesson, 1, 1, room.ann)
    room.tell(lesson, 1, 2, room.ann)
    room.done("POST", f"/lessons/{lesson}/rollback", json={"to": 2})
    assert room.claimed(lesson, room.ben) == 1
    assert room.tell(lesson, 1, 1, room.ben)["agrees"] is True
    copy = _copied(room, lesson, second_share=1.0)
    with room.inside.database.read() as connection:
        assert agreement(connection, lesson) == agreement(connection, copy) == [True]


def test_a_copy_keeps_what_the_agent_stated_and_who_is_to_describe_too(room: Room) -> None:
    more: dict[str, Any] = {"agent": {"kind": "loril"}, "second_share": 0.5}
    lesson = room.lesson(**more)
    learner = room.inside.learner(lesson)
    for number in range(1, 7):
        learner.ask(number % 2, Listed(np.eye(DIM)), Content(), room.ids["eng"])
        room.tell(lesson, number, number % 3)
    # In a lesson that has begun, chance would want others to be described twice.
    copy = room.taught(1, agent=AGENT)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    room.done("POST", f"/lessons/{copy}/import", content=lines)
    names = ("estimate", "width", "highest", "wants_second")
    query = select(*(rounds.c[name] for name in names)).order_by(rounds.c.number)
    with room.inside.database.read() as connection:
        first = connection.execute(query.where(rounds.c.lesson == lesson)).all()
        second = connection.execute(query.where(rounds.c.lesson == copy)).all()[1:]
    assert first == second
    assert {row.wants_second for row in first} == {True, False}
    assert all(row.highest is not None for row in first)
    for one, other in zip(
        room.log(lesson, kinds=[Kind.ASKED]), room.log(copy, kinds=[Kind.ASKED])[1:], strict=True
    ):
        assert one.data | {"version": 0} == other.data | {"version": 0}


HEADING = {"format": "tellback lesson", "version": 1}
ASKED = {
    "kind": "asked",
    "data": {"instruction": 0, "response": 1},
    "shown": {"features": FEATURES},
}
SAID = {"kind": "described", "data": {"description": 1, "saw_request": False}}


def _export(*events: dict[str, Any]) -> bytes:
    """The lines of an export of one round."""
    numbered = [{"seq": n, "round": 1} | event for n, event in enumerate(events, 1)]
    return lines_of(HEADING | {"events": len(events)}, *numbered)


def test_whether_a_check_was_right_is_worked_out(room: Room) -> None:
    picks = [{"kind": "checked", "data": {"picked": n, "right": n != 1}} for n in range(3)]
    picks.append({"kind": "checked", "data": {"picked": None, "right": True}})
    deleted = {"kind": "described", "data": {"redacted": True}}
    for said in (SAID, deleted):
        lesson = room.lesson()
        content = _export(ASKED, said, *picks)
        room.done("POST", f"/lessons/{lesson}/import", content=content)
        with room.inside.database.read() as connection:
            assert checks(connection, lesson) == [False, True, False, False]


@pytest.mark.parametrize(
    ("events", "field"),
    [
        ((ASKED, SAID, {"kind": "checked", "data": {"picked": 3, "right": True}}), "4.data.picked"),
        ((ASKED, SAID, {"kind": "checked", "data": {"picked": -5}}), "4.checked"),
        ((ASKED, SAID, {"kind": "checked", "data": {"picked": 10**30}}), "4.checked"),
        ((ASKED, SAID, {"kind": "checked", "data": {"right": True}}), "4.checked"),
        ((ASKED, {"kind": "checked", "data": {"picked": 1, "right": True}}), "3.round"),
        ((ASKED, {"kind": "skipped", "data": {"picked": 1, "right": True}}), "3.skipped"),
        ((ASKED, SAID, {"kind": "withdrawn", "data": {"was": "\x00"}}), "4.withdrawn"),
        ((ASKED | {"wants_second": 1},), "2.asked.wants_second"),
        *(
            ((ASKED | {"data": ASKED["data"] | {name: value}},), f"2.asked.data.{name}")  # type: ignore[operator]
            for name, value in (
                ("estimate", 1e300),
                ("estimate", "1"),
                ("bonus", float("inf")),
                ("width", -0.1),
                ("highest", float("nan")),
            )
        ),
    ],
)
def test_an_export_that_was_tampered_with_is_not_taken_in(
    room: Room, events: tuple[dict[str, Any], ...], field: str
) -> None:
    lesson = _kept_lesson(room)
    answer = room.send("POST", f"/lessons/{lesson}/import", content=_export(*events))
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"].startswith(field)
    assert room.log(lesson) == []
