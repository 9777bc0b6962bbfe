"""What a classroom promises to the engineers who reach it over HTTP."""

from __future__ import annotations

import io
import json
import random
import runpy
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, select, update
from sqlalchemy.exc import OperationalError
from typer.testing import CliRunner

from tellback.agents import EpsilonGreedy
from tellback.classroom.client import Client, ProblemError, UnreachableError
from tellback.classroom.learning import replay as replay_module
from tellback.classroom.learning.checkpoints import keep_checkpoint
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.importing import AT_ONCE, Importer
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent, same_state
from tellback.classroom.settings import Settings
from tellback.classroom.signing import verified
from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.active import active_descriptions, read_active
from tellback.classroom.store.descriptions import describe
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Kind, read_events, writing
from tellback.classroom.store.reports import agreement, checks
from tellback.classroom.store.rollback import roll_back
from tellback.classroom.store.tables import answers, checkpoints, deliveries, leases, rounds
from tellback.classroom.store.tasks import Content
from tellback.classroom.store.webhooks import Delivery
from tellback.classroom.web.app import create_app
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.webhooks import addresses
from tellback.classroom.web.webhooks import outbox as outbox_module
from tellback.cli import app as commands
from tellback.errors import TellbackError
from tellback.extras import install_command
from tellback.matching import Same
from tellback.off_policy import Log
from tellback.responses import Listed
from tests.support.classroom_parts import active_after
from tests.support.real_parts import Postgres

API = "/api/v1"
DIM = 3
AGENT = {"kind": "epsilon-greedy", "epsilon": 0.5, "model": {"kind": "ridge"}}
CHANCE = AGENT | {"epsilon": 1.0}
LESSON = {"name": "a lesson", "dim": DIM, "instructions": 4, "agent": AGENT}
FEATURES = [[1.0, 0.0, 0.2], [0.0, 1.0, 0.1], [0.3, 0.3, 0.4]]


class Room(NamedTuple):
    """A service on one back end, without its threads: tests do their work by hand."""

    inside: Classroom
    http: TestClient
    admin: dict[str, str]
    engineer: dict[str, str]
    ann: dict[str, str]
    ben: dict[str, str]
    ids: dict[str, str]

    def send(self, method: str, path: str, who: dict[str, str] | None = None, **more: Any) -> Any:
        headers = (self.engineer if who is None else who) | more.pop("headers", {})
        return self.http.request(method, API + path, headers=headers, **more)

    def done(self, method: str, path: str, who: dict[str, str] | None = None, **more: Any) -> Any:
        answer = self.send(method, path, who, **more)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def lesson(self, **more: Any) -> str:
        id: str = self.done("POST", "/lessons", json=LESSON | more)["id"]
        return id

    def ask(self, lesson: str, instruction: int = 0, **more: Any) -> dict[str, Any]:
        body = {"instruction": instruction, "features": FEATURES}
        found: dict[str, Any] = self.done("POST", f"/lessons/{lesson}/rounds", json=body, **more)
        return found

    def tell(self, lesson: str, round: int, told: int, who: dict[str, str] | None = None) -> Any:
        path = f"/lessons/{lesson}/rounds/{round}/description"
        return self.done("PUT", path, who, json={"description": told})

    def taught(self, rounds: int, seed: int = 0, **more: Any) -> str:
        """A lesson of some rounds, all of them described."""
        lesson, rng = self.lesson(**more), np.random.default_rng(seed)
        learner, engineer = self.inside.learner(lesson), self.ids["eng"]
        for number in range(1, rounds + 1):
            learner.ask(int(rng.integers(4)), Listed(FEATURES), Content(), engineer)
            with writing(self.inside.database, lesson) as log:
                describe(log, number, engineer, int(rng.integers(4)), Same(), anyones=True)
        return lesson

    def claimed(self, lesson: str, who: dict[str, str]) -> int:
        number: int = self.done("POST", f"/lessons/{lesson}/claims", who)["round"]
        return number

    def log(self, lesson: str, **more: Any) -> list[Any]:
        with self.inside.database.read() as connection:
            return list(read_events(connection, lesson, **more))

    def active(self, lesson: str) -> dict[int, int]:
        with self.inside.database.read() as connection:
            return active_descriptions(connection, lesson)

    def rebuilt(self, lesson: str) -> LessonAgent:
        """A new agent, taught the active descriptions: the oracle of all others."""
        with self.inside.database.read() as connection:
            found = find_lesson(connection, lesson)
            agent = LessonAgent(Definition.from_data(found.definition))
            for taught in read_active(connection, lesson):
                agent.add(taught)
        return agent

    def assert_folded(self, lesson: str) -> None:
        """What the service's agent knows is what the log says, to the last bit."""
        learner = self.inside.learner(lesson)
        learner.catch_up()
        expected = self.rebuilt(lesson)
        assert learner.agent.active == expected.active == active_after(self.log(lesson))
        assert same_state(learner.agent.state(), expected.state())


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('api')}/classroom.db"
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.create_database()


def opened_room(address: str) -> Room:
    app = create_app(Settings(address, private_webhooks=True, requests_a_minute=0))
    room: Classroom = app.state.classroom
    headers, ids = {}, {}
    for name, role in (
        ("root", "admin"),
        ("eng", "engineer"),
        ("ann", "teacher"),
        ("ben", "teacher"),
    ):
        try:
            account = accounts.named(room.database, name)
        except TellbackError:
            account = accounts.add(room.database, name, role, None)
        ids[name] = account.id
        _, secret = tokens.make(room.database, account.id, "test")
        headers[name] = {"Authorization": f"Bearer {secret}"}
    http = TestClient(app, base_url="http://localhost", client=("203.0.113.9", 4000))
    return Room(room, http, headers["root"], headers["eng"], headers["ann"], headers["ben"], ids)


@pytest.fixture(scope="module")
def room(address: str) -> Iterator[Room]:
    found = opened_room(address)
    yield found
    found.http.close()
    found.inside.database.close()


# Keys: the same request is acted upon once.


def test_the_same_key_brings_the_same_answer_and_one_round(room: Room) -> None:
    lesson = room.lesson()
    first, again = (room.ask(lesson, headers={"Idempotency-Key": f"same-{lesson}"}) for _ in "ab")
    assert first == again
    assert len(room.log(lesson)) == 1


def test_a_key_with_another_body_is_refused(room: Room) -> None:
    lesson = room.lesson()
    key = {"Idempotency-Key": f"other-{lesson}"}
    room.ask(lesson, 0, headers=key)
    body = {"instruction": 1, "features": FEATURES}
    answer = room.send("POST", f"/lessons/{lesson}/rounds", json=body, headers=key)
    assert answer.status_code == 409
    assert answer.json()["code"] == "key_reused"
    assert len(room.log(lesson)) == 1


def test_the_same_key_many_times_at_once_makes_one_round(room: Room) -> None:
    lesson = room.lesson()
    key = {"Idempotency-Key": f"rush-{lesson}"}
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: room.ask(lesson, headers=key), range(12)))
    assert all(one == found[0] for one in found)
    assert len(room.log(lesson)) == 1


# Descriptions: late, twice, out of order, never.


def test_descriptions_may_come_late_twice_out_of_order_or_never(room: Room) -> None:
    lesson = room.lesson()
    for _ in range(4):
        room.ask(lesson)
    for number in (3, 1, 3, 2, 1):
        room.tell(lesson, number, number % 4)
    assert list(room.active(lesson)) == [3, 1, 2]
    described = [one for one in room.log(lesson) if one.kind is Kind.DESCRIBED]
    assert [one.round for one in described] == [3, 1, 2]
    never = room.done("GET", f"/lessons/{lesson}/rounds/4")
    assert (never["status"], never["description"]) == ("open", None)
    room.assert_folded(lesson)


def test_what_is_taken_back_was_never_known(room: Room) -> None:
    lesson = room.taught(5)
    before = room.rebuilt(lesson).state()
    room.ask(lesson, 1)
    room.tell(lesson, 6, 2)
    room.ask(lesson, 2)
    room.tell(lesson, 7, 3)
    assert not same_state(room.rebuilt(lesson).state(), before)
    for number in (6, 7):
        assert room.done("DELETE", f"/lessons/{lesson}/rounds/{number}/description")["withdrawn"]
    room.assert_folded(lesson)
    assert same_state(room.inside.learner(lesson).agent.state(), before)


# Going back.


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
        room.assert_folded(lesson)
    late = room.done("GET", f"/lessons/{lesson}/rounds/6")
    assert late["status"] == "described"


def test_going_back_to_what_has_not_happened_is_refused(room: Room) -> None:
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
    assert room.claimed(lesson, room.ben) == 1  # the second description is wanted again


# Redaction.


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
    assert room.done("DELETE", path, room.admin) == {"events": 1, "lessons": 1, "scrubbed": True}
    assert room.done("DELETE", path, room.admin)["events"] == 0  # to ask again is no harm
    first = room.done("GET", f"/lessons/{lesson}/rounds/1")
    assert (first["status"], first["description"]) == ("open", None)
    told = [one for one in room.log(lesson) if one.kind is Kind.DESCRIBED]
    assert [one.redacted for one in told] == [True, False]
    assert list(room.active(lesson)) == [2]
    room.assert_folded(lesson)
    assert (
        "xylophone"
        not in room.http.get(f"{API}/lessons/{lesson}/export", headers=room.engineer).text
    )
    assert room.claimed(lesson, room.ben) == 1  # it is there for others


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
    with writing(room.inside.database, lesson) as log:
        assert keep_checkpoint(log, learner.agent)
    assert _holding(tmp_path, words)
    # One process has learned the words, another deletes them before the first keeps its state.
    stale = Learner(room.inside.database, _found(room, lesson))
    other = opened_room(f"sqlite:///{tmp_path}/classroom.db")
    answer = other.done("DELETE", f"/teachers/{other.ids['eng']}/data", other.admin)
    assert answer == {"events": 3, "lessons": 1, "scrubbed": True}
    assert not _holding(tmp_path, words)
    with writing(room.inside.database, lesson) as log:
        assert not keep_checkpoint(log, stale.agent)
    with room.inside.database.read() as connection:
        assert not connection.execute(select(checkpoints)).all()
        assert not connection.execute(
            select(answers).where(answers.c.account == room.ids["eng"])
        ).all()
    room.assert_folded(lesson)  # the first process too
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


# Out and in.


def eventful(room: Room) -> str:
    """A lesson in which everything has happened that can."""
    lesson = room.taught(12)
    room.done("DELETE", f"/lessons/{lesson}/rounds/3/description")
    room.done("DELETE", f"/lessons/{lesson}/rounds/5/description")
    room.tell(lesson, 5, 2)
    room.done("POST", f"/lessons/{lesson}/rollback", json={"to": 20})
    room.ask(lesson)
    room.done("PUT", f"/lessons/{lesson}/rounds/13/outcome", json={"outcome": "flagged"})
    room.ask(lesson)
    assert room.claimed(lesson, room.ann) == 14
    room.tell(lesson, 14, 1, room.ann)
    room.ask(lesson)
    room.tell(lesson, 15, 1)
    room.done("DELETE", f"/lessons/{lesson}/teachers/{room.ids['ann']}/data", room.admin)
    return lesson


def test_a_lesson_taken_out_and_in_again_teaches_the_same(room: Room) -> None:
    lesson = eventful(room)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    happened = room.log(lesson)
    assert lines.count(b"\n") == 1 + len(happened)
    copy = room.lesson()
    answer = room.done("POST", f"/lessons/{copy}/import", content=lines)
    assert (answer["rounds"], answer["events"]) == (15, len(happened))
    assert room.active(copy) == room.active(lesson)
    room.assert_folded(copy)
    assert same_state(room.rebuilt(copy).state(), room.rebuilt(lesson).state())
    again = [
        json.loads(line)
        for line in room.send("GET", f"/lessons/{copy}/export").text.split("\n")[1:-1]
    ]
    for line, event in zip(again, happened, strict=True):
        assert (line["seq"], line["kind"], line["round"]) == (event.seq, event.kind, event.round)


def test_a_copy_can_be_added_to_a_lesson_that_has_begun(room: Room) -> None:
    lesson, begun = eventful(room), room.taught(3, seed=1)
    lines = room.send("GET", f"/lessons/{lesson}/export").content
    answer = room.done("POST", f"/lessons/{begun}/import", content=lines)
    assert answer["first_round"] == 4
    moved = {round + 3: seq + 6 for round, seq in room.active(lesson).items()}
    assert room.active(begun) == {1: 2, 2: 4, 3: 6} | moved
    room.assert_folded(begun)


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
    room.assert_folded(lesson)


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


def test_what_a_model_refuses_is_not_learned_and_stops_nothing_else(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = room.lesson()
    long = {"instruction": 0, "features": [[1e8, 0.0, 0.0]] * 3, "response": 0, "description": 1}
    fine = long | {"features": FEATURES}
    with monkeypatch.context() as patch:  # a log from before imports were refused
        patch.setattr(Importer, "refuse_unfit", lambda *_: None)
        room.done("POST", f"/lessons/{lesson}/import", content=lines_of(long, fine, long))
    learner = room.inside.learner(lesson)
    assert learner.agent.learned == 1
    assert len(room.active(lesson)) == 3
    room.ask(lesson)
    path = f"/lessons/{lesson}/rounds/4/description?effect=true"
    effect = room.done("PUT", path, json={"description": 1})["effect"]
    assert (effect["learned"], effect["requests"]) == (2, 1)
    assert room.done("GET", f"/lessons/{lesson}/progress")["described"] == 4
    with writing(room.inside.database, lesson) as log:
        assert keep_checkpoint(log, learner.agent)
    with room.inside.database.read() as connection:
        again = Learner(room.inside.database, find_lesson(connection, lesson))
    assert again.agent.learned == 2
    room.done("DELETE", f"/lessons/{lesson}/rounds/1/description")
    again.catch_up()
    assert (again.agent.learned, again.agent.active) == (2, room.active(lesson))


_EMPTY: dict[int, str] = {}


def _kept_lesson(room: Room) -> str:
    """One lesson for all that is refused: nothing is ever in it."""
    if id(room.inside) not in _EMPTY:
        _EMPTY[id(room.inside)] = room.lesson()
    return _EMPTY[id(room.inside)]


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
    deleted = {"kind": "described", "data": {"redacted": True}}
    for said in (SAID, deleted):
        lesson = room.lesson()
        content = _export(ASKED, said, *picks)
        room.done("POST", f"/lessons/{lesson}/import", content=content)
        with room.inside.database.read() as connection:
            assert checks(connection, lesson) == [False, True, False]


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


def test_a_table_has_a_row_for_each_event(room: Room) -> None:
    lesson = eventful(room)
    content = room.send("GET", f"/lessons/{lesson}/export?format=parquet").content
    table = pl.read_parquet(io.BytesIO(content))
    happened = room.log(lesson)
    assert table["seq"].to_list() == [one.seq for one in happened]
    assert table["kind"].to_list() == [one.kind.value for one in happened]
    asked = table.filter(pl.col("kind") == "asked")
    assert all(features == FEATURES for features in asked["features"].to_list())
    propensities = [one.data["propensity"] for one in happened if one.kind is Kind.ASKED]
    assert asked["propensity"].to_list() == propensities
    empty = room.send("GET", f"/lessons/{_kept_lesson(room)}/export?format=parquet").content
    assert pl.read_parquet(io.BytesIO(empty)).shape == (0, table.width)


def test_a_log_for_off_policy_use_marks_who_saw_the_request(room: Room, tmp_path: Path) -> None:
    lesson = room.taught(24)
    room.tell(lesson, 2, 3)  # said otherwise after the request was shown
    room.tell(lesson, 2, 1)
    room.done("DELETE", f"/lessons/{lesson}/rounds/4/description")
    path = tmp_path / "log.jsonl"
    path.write_bytes(room.send("GET", f"/lessons/{lesson}/export?format=log").content)
    log = Log.load(path)
    assert len(log) == 24
    assert log.teacher_saw_request.tolist() == [n == 2 for n in range(1, 25)]
    assert [n for n, one in enumerate(log.descriptions, start=1) if one is None] == [4]
    expected = {one.round: one.data for one in room.log(lesson, kinds=[Kind.ASKED])}
    assert log.propensities.tolist() == [expected[n]["propensity"] for n in range(1, 25)]
    assert len(log.usable) == 22
    done = CliRunner().invoke(commands, ["evaluate", str(path)])
    assert done.exit_code == 0, done.output
    assert "chance" in done.output


# Replays.


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


# Hooks.


class Receiver:
    """A program that is told of new descriptions, and fails as often as it is asked to."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self._server.server_port}/told?by=tellback"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def events(self) -> list[tuple[str, int]]:
        told = [json.loads(body) for _, body in self.got]
        return [(one["kind"], one["event"]) for one in told]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture
def hooked(room: Room, receiver: Receiver) -> Iterator[tuple[str, dict[str, str]]]:
    lesson = room.lesson()
    with room.inside.database.write() as connection:
        connection.execute(delete(leases))  # whoever had the outbox has let go of it
    hook = room.done("POST", f"/lessons/{lesson}/webhooks", json={"url": receiver.url})
    yield lesson, hook
    room.done("DELETE", f"/lessons/{lesson}/webhooks/{hook['id']}")


def make_due(room: Room, lesson: str) -> None:
    """Let the time pass until the next try."""
    with room.inside.database.write() as connection:
        change = update(deliveries).where(
            deliveries.c.lesson == lesson, deliveries.c.due.is_not(None)
        )
        connection.execute(change.values(due=0.0))


def test_word_of_descriptions_is_delivered_in_order_and_signed(
    room: Room, receiver: Receiver, hooked: tuple[str, dict[str, str]]
) -> None:
    lesson, hook = hooked
    room.ask(lesson)
    room.tell(lesson, 1, 2)
    room.done("DELETE", f"/lessons/{lesson}/rounds/1/description")
    room.tell(lesson, 1, 3)
    assert room.inside.outbox.turn() == 3
    assert receiver.events == [("described", 2), ("withdrawn", 3), ("described", 4)]
    for headers, body in receiver.got:
        signature = headers["Tellback-Signature"]
        assert verified(hook["secret"], signature, body)
        assert not verified(hook["secret"], signature, body + b" ")
        assert not verified("another", signature, body)
        assert not verified(hook["secret"], signature, body, now=4e9)
    assert [h["Tellback-Event"] for h, _ in receiver.got] == [f"{lesson}/{n}" for n in (2, 3, 4)]
    assert json.loads(receiver.got[0][1])["data"]["description"] == 2
    assert room.inside.outbox.turn() == 0
    (shown,) = room.done("GET", f"/lessons/{lesson}/webhooks")["webhooks"]
    assert (shown["waiting"], shown["latest_delivered"]) == (0, 4)
    assert "secret" not in shown


def test_word_is_delivered_after_a_crash_between_commit_and_delivery(
    room: Room,
    address: str,
    receiver: Receiver,
    hooked: tuple[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lesson, _ = hooked
    room.ask(lesson)
    room.tell(lesson, 1, 2)  # and the process dies: its outbox never ran
    other = Classroom(Settings(address, private_webhooks=True))

    def dies(*_: object) -> None:
        raise OperationalError("commit", {}, Exception("gone"))

    with monkeypatch.context() as patch:
        patch.setattr(outbox_module, "mark_delivered", dies)
        with pytest.raises(OperationalError):
            other.outbox.turn()  # delivered, but it dies before it can note that
    # Whoever comes next has to wait for the lease of the dead.
    assert room.inside.outbox.turn() == 0
    monkeypatch.setattr(room.inside.outbox, "holder", other.outbox.holder)
    assert room.inside.outbox.turn() == 1
    assert receiver.events == [("described", 2)] * 2  # at least once
    first, second = (headers["Tellback-Event"] for headers, _ in receiver.got)
    assert first == second  # by which it is known to be the same
    other.database.close()


def test_what_fails_is_tried_again_later_and_later_and_then_given_up(
    room: Room,
    receiver: Receiver,
    hooked: tuple[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lesson, _ = hooked
    for number in (1, 2):
        room.ask(lesson)
        room.tell(lesson, number, 2)
    receiver.answers = [500, 302]
    waits = []
    for _ in range(2):
        assert room.inside.outbox.turn() == 1  # the second waits behind the first
        assert room.inside.outbox.turn() == 0
        with room.inside.database.read() as connection:
            query = select(deliveries).where(deliveries.c.lesson == lesson)
            row = connection.execute(query.order_by(deliveries.c.seq)).first()
        assert row is not None
        waits.append(row.tries)
        make_due(room, lesson)
    assert waits == [1, 2]
    (shown,) = room.done("GET", f"/lessons/{lesson}/webhooks")["webhooks"]
    assert (shown["waiting"], shown["trouble"]) == (2, "It answered 302.")
    receiver.answers = [500]
    monkeypatch.setattr(outbox_module, "GIVE_UP_AFTER", -1.0)
    assert room.inside.outbox.turn() == 2  # the first is given up, the second gets through
    (shown,) = room.done("GET", f"/lessons/{lesson}/webhooks")["webhooks"]
    assert (shown["waiting"], shown["given_up"], shown["latest_delivered"]) == (0, 1, 4)
    assert [event for _, event in receiver.events] == [2, 2, 2, 4]


def test_waits_grow_to_an_hour_for_a_day(room: Room) -> None:
    event = room.log(room.taught(1))[0]
    day = 24 * 3600
    waits = []
    for tries in range(40):
        delivery = Delivery(None, event, tries)  # type: ignore[arg-type]
        again = outbox_module._again(delivery, event.at + 1)
        assert again is not None
        waits.append(again - event.at - 1)
        low, high = min(2**tries, 3600) / 2, min(2**tries, 3600)
        assert low <= waits[-1] <= high + 1e-3
    assert outbox_module._again(delivery, event.at + day + 1) is None


def test_a_redaction_takes_the_words_out_of_the_outbox_too(
    room: Room, receiver: Receiver, hooked: tuple[str, dict[str, str]]
) -> None:
    lesson, _ = hooked
    room.ask(lesson)
    room.tell(lesson, 1, 2)
    path = f"/lessons/{lesson}/teachers/{room.ids['eng']}/data"
    room.done("DELETE", path, room.admin)
    room.inside.outbox.turn()
    assert receiver.events == [("described", 2), ("redacted", 3)]
    assert json.loads(receiver.got[0][1])["data"] == {"redacted": True}


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "example.org",
        "http://",
        "http://user:password@example.org/",
        "http://example.org:99999/",
        "http://example.org/#part",
        "http://example.org/a b",
        "http://exämple.org/",
        "file:///etc/passwd",
    ],
)
def test_a_hook_must_be_a_web_address(room: Room, url: str) -> None:
    answer = room.send("POST", f"/lessons/{_kept_lesson(room)}/webhooks", json={"url": url})
    assert (answer.status_code, answer.json()["field"]) == (422, "url")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fc00::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ],
)
def test_a_hook_must_lead_to_the_public_internet(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TellbackError, match="public"):
        addresses.checked_url(f"http://{host}/", private=False)
    assert addresses.checked_url(f"http://{host}/", private=True)
    # A name that leads there is found out when it is resolved, whatever else it leads to.
    where = host.strip("[]")
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (a, 80)) for a in ("93.184.215.14", where)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(TellbackError, match="public"):
        addresses.resolved("http://innocent.example/", private=False)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found[:1])
    url, name = addresses.resolved("https://innocent.example/x?y=1", private=False)
    assert (url, name) == ("https://93.184.215.14:443/x?y=1", "innocent.example")


# Who may.


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "export"),
        ("POST", "import"),
        ("POST", "rollback"),
        ("POST", "replay"),
        ("GET", "webhooks"),
        ("POST", "webhooks"),
    ],
)
def test_only_engineers_reach_the_log(room: Room, method: str, path: str) -> None:
    lesson = _kept_lesson(room)
    assert room.send(method, f"/lessons/{lesson}/{path}", room.ann, json={}).status_code == 403
    assert room.http.request(method, f"{API}/lessons/{lesson}/{path}").status_code == 401
    assert room.send(method, f"/lessons/nowhere/{path}", json={}).status_code in (404, 422)


# Health.


def test_health_is_that_of_the_database(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    assert room.http.get("/healthz").json() == {"status": "ok"}

    def gone(*_: object) -> None:
        raise OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(room.inside.database, "read", gone)
    assert room.http.get("/healthz").status_code == 503


def test_metrics_are_for_admins_and_count_by_route(room: Room) -> None:
    lesson = room.taught(1)
    room.ask(lesson)
    assert room.http.get("/metrics").status_code == 401
    assert room.http.get("/metrics", headers=room.engineer).status_code == 403
    told = room.http.get("/metrics", headers=room.admin).text
    rounds_line = (
        'tellback_requests_total{method="POST",route="/lessons/{lesson}/rounds",status="201"}'
    )
    assert rounds_line in told
    assert lesson not in told
    assert 'tellback_request_seconds_bucket{le="0.1"' in told
    for name in ("descriptions", "open_rounds", "outbox_backlog", "leases_held"):
        assert f"\ntellback_{name} " in told


def test_metrics_can_be_read_on_the_machine_itself_but_not_through_a_proxy(room: Room) -> None:
    app = room.http.app
    local = TestClient(app, base_url="http://localhost", client=("127.0.0.1", 4000))
    assert local.get("/metrics").status_code == 200
    through = local.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"})
    assert through.status_code == 401
    local.close()


# The client.


def client_of(room: Room, **more: Any) -> Client:
    secret = room.engineer["Authorization"].removeprefix("Bearer ")
    transport = httpx.MockTransport(lambda request: _through(room, request))
    return Client("http://localhost", secret, transport=more.pop("transport", transport), **more)


def _through(room: Room, request: httpx.Request) -> httpx.Response:
    answer = room.http.request(
        request.method, str(request.url), headers=dict(request.headers), content=request.read()
    )
    return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def test_the_client_asks_describes_withdraws_and_moves_lessons(room: Room, tmp_path: Path) -> None:
    with client_of(room) as there:
        lesson = there.create_lesson("robot", dim=DIM, instructions=4, agent=AGENT)
        asked = lesson.ask(1, features=np.array(FEATURES), context="a room")
        assert 0 <= asked.response < 3
        assert asked.propensity is not None
        assert asked.describe(2)["new"]
        assert asked.withdraw()
        assert not asked.withdraw()
        assert asked.describe(1)["saw_request"]
        assert lesson.describe(asked.number, 1)["new"] is False
        assert lesson.preview(1, features=FEATURES).response == asked.response
        assert lesson.progress()["described"] == 1
        lesson.export(tmp_path / "lesson.jsonl")
        lesson.export(tmp_path / "log.jsonl", format="log")
        assert len(Log.load(tmp_path / "log.jsonl")) == 1
        copy = there.create_lesson("copy", dim=DIM, instructions=4, agent=AGENT)
        assert copy.import_(tmp_path / "lesson.jsonl")["descriptions"] == 2
        assert same_state(room.rebuilt(copy.id).state(), room.rebuilt(lesson.id).state())
        assert lesson.replay(CHANCE)["descriptions"] == 1
        assert lesson.roll_back(0) == 0
        assert there.lesson(copy.id).id == copy.id
        assert copy.id in {one["id"] for one in there.lessons()}


def test_the_client_says_what_was_refused(room: Room, tmp_path: Path) -> None:
    with client_of(room) as there:
        with pytest.raises(ProblemError) as caught:
            there.create_lesson("none", instructions=3)
        assert (caught.value.status, caught.value.field) == (422, "dim")
        with pytest.raises(ProblemError) as caught:
            there.lesson("nowhere").export(tmp_path / "never")
        assert (caught.value.status, caught.value.code) == (404, "not_found")
        assert not (tmp_path / "never").exists()


def test_the_client_sends_again_what_was_lost_and_it_is_done_once(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("tellback.classroom.client.time.sleep", waits.append)
    trouble: list[Any] = []
    lesson_id = room.lesson()

    def unsteady(request: httpx.Request) -> httpx.Response:
        answer = _through(room, request)  # it arrives, and then the answer gets lost
        match trouble.pop(0) if trouble else None:
            case None:
                return answer
            case int(status):
                return httpx.Response(status, headers={"Retry-After": "7"})
            case error:
                raise error

    with client_of(room, transport=httpx.MockTransport(unsteady)) as there:
        lesson = there.lesson(lesson_id)
        trouble[:] = [httpx.ReadError("lost"), 503, 429]
        asked = lesson.ask(1, features=FEATURES)
        assert asked.number == 1
        assert len(room.log(lesson_id)) == 1
        assert waits[0] < 1
        assert waits[1:] == [7.0, 7.0]
        trouble[:] = [httpx.ConnectError("down")] * 20
        with pytest.raises(UnreachableError, match="down"):
            lesson.progress()


@pytest.mark.parametrize("agent", [AGENT, {"kind": "loril", "model": {"kind": "ridge"}}])
def test_features_that_the_agent_could_not_learn_from_are_refused(
    room: Room, agent: dict[str, Any]
) -> None:
    lesson = room.lesson(agent=agent)
    body = {"instruction": 0, "features": [[1e8, 0.0, 0.0], [0.0, 1e8, 0.0]]}
    refused = room.send("POST", f"/lessons/{lesson}/rounds", json=body)
    assert refused.status_code == 422
    assert "Divide all features" in refused.text


def test_the_core_imports_the_client_without_httpx() -> None:
    code = (
        "import sys; sys.modules['httpx'] = None\n"
        "from tellback.classroom.client import Client\n"
        "try: Client('http://localhost')\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert install_command("classroom") in done.stdout


def test_the_robot_of_the_example_learns_to_go_where_it_is_told(
    room: Room,
) -> None:
    path = Path(__file__).parents[2] / "examples" / "taught_over_http.py"
    example = runpy.run_path(str(path))  # as a program of its own it runs in test_docs
    with client_of(room) as there:
        lesson = there.create_lesson("robot", dim=3, agent=EpsilonGreedy(epsilon=0.2))
        assert example["success"](lesson, seed=2, requests=20) <= 10
        example["teach"](lesson, 30, random.Random(1))
        assert example["success"](lesson, seed=2, requests=20) >= 18
