"""A classroom on each back end, reached through its API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

from tellback.classroom.client import Client
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.active import active_descriptions, read_active
from tellback.classroom.store.descriptions import describe
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import read_events, writing
from tellback.classroom.store.tasks import Content
from tellback.classroom.web.app import create_app
from tellback.classroom.web.classroom import Classroom
from tellback.errors import TellbackError
from tellback.matching import Same
from tellback.responses import Listed
from tests.support.classroom_parts import active_after
from tests.support.real_parts import Postgres
from tests.support.states import same_state

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

    def tell(
        self, lesson: str, round: int, told: int | str, who: dict[str, str] | None = None
    ) -> Any:
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

    def assert_rebuilt(self, lesson: str) -> None:
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


_EMPTY: WeakKeyDictionary[Classroom, str] = WeakKeyDictionary()


def _kept_lesson(room: Room) -> str:
    """One lesson for all that is refused: nothing is ever in it."""
    if room.inside not in _EMPTY:
        _EMPTY[room.inside] = room.lesson()
    return _EMPTY[room.inside]


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


def client_of(room: Room, **more: Any) -> Client:
    """A client that reaches the service as a program would."""
    secret = room.engineer["Authorization"].removeprefix("Bearer ")
    transport = httpx.MockTransport(lambda request: through(room, request))
    return Client("http://localhost", secret, transport=more.pop("transport", transport), **more)


def through(room: Room, request: httpx.Request) -> httpx.Response:
    """What the service answers."""
    answer = room.http.request(
        request.method, str(request.url), headers=dict(request.headers), content=request.read()
    )
    return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)
