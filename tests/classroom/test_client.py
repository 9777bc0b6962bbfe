"""The client reaches a classroom as programs do."""

from __future__ import annotations

import asyncio
import inspect
import random
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tellback.agents import EpsilonGreedy
from tellback.classroom.client import (
    AsyncClient,
    AsyncLesson,
    AsyncRound,
    Client,
    ProblemError,
    UnreachableError,
)
from tellback.errors import FieldError, SettingError, TellbackError
from tellback.extras import install_command
from tellback.off_policy import Log
from tellback.recordings import Columns, read, teach
from tests.support.api_room import AGENT, CHANCE, DIM, FEATURES, Room, client_of, through
from tests.support.recordings import small_recording
from tests.support.states import same_state


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


@pytest.mark.parametrize("candidates", ["features", "texts"])
def test_a_recording_teaches_a_lesson_in_parts_and_its_export_is_the_same_agent(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, candidates: str
) -> None:
    monkeypatch.setattr("tellback.recordings.teaching.AT_ONCE", 50)
    recording = small_recording()
    columns = Columns.of(recording)
    with client_of(room) as there:
        dim = columns.dim if candidates == "features" else None
        lesson = there.create_lesson("house", dim=dim, candidates=candidates)
        assert lesson.teach(recording, columns) == 72
        room.assert_rebuilt(lesson.id)
        assert lesson.progress()["described"] == 72
        # Nobody is asked which response a description fits if there is but one.
        assert room.send("POST", f"/lessons/{lesson.id}/checks", room.ann).status_code == 204
        lesson.export(tmp_path / "r.jsonl", format="recording")
        lesson.export(tmp_path / "chat.jsonl", format="chat", context=False)
    back = read(tmp_path / "r.jsonl")
    said = [told.text for one in recording for told in one.descriptions]
    assert [told.text for one in back for told in one.descriptions] == said
    learner = room.inside.learner(lesson.id)
    agent = learner.definition.build()
    assert teach(agent, back) == 72
    assert same_state(agent.state(), learner.agent.state())
    if candidates == "features":
        first = learner.definition.build()
        teach(first, recording, columns)
        assert same_state(first.state(), agent.state())


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
    monkeypatch.setattr("tellback.classroom.client.connection.time.sleep", waits.append)
    trouble: list[Any] = []
    lesson_id = room.lesson()

    def unsteady(request: httpx.Request) -> httpx.Response:
        answer = through(room, request)  # it arrives, and then the answer gets lost
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


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_sleep(seconds: float) -> None:
        pass

    monkeypatch.setattr("tellback.classroom.client.connection.time.sleep", lambda seconds: None)
    monkeypatch.setattr("tellback.classroom.client.asynchronous.asyncio.sleep", no_sleep)


class Unsteady:
    """A network on which every first answer is lost, in the same way."""

    def __init__(self, room: Room, trouble: Exception | int) -> None:
        self._room, self._trouble = room, trouble
        self.sent: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        this = f"{request.method} {request.url.path}"
        self.sent.append(this)
        if self.sent.count(this) == 1 and isinstance(self._trouble, httpx.ConnectError):
            raise self._trouble  # it never arrives
        answer = through(self._room, request)
        if self.sent.count(this) > 1:
            return answer
        if isinstance(self._trouble, int):
            return httpx.Response(self._trouble)
        raise self._trouble


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("trouble", [httpx.ReadError("lost"), httpx.ReadTimeout("late"), 502])
def test_what_would_be_done_twice_is_not_sent_again(
    room: Room, kind: str, trouble: Exception | int
) -> None:
    as_admin = Room(*room)._replace(engineer=room.admin)
    lost = httpx.MockTransport(Unsteady(room, trouble))
    with client_of(as_admin) as there, _client(as_admin, kind, lost) as client:
        home = there.create_lesson("home", dim=DIM, instructions=4)
        home.ask(1, features=FEATURES).describe(1)
        lesson = client.lesson(home.id)

        def counts() -> list[int]:
            lists = there.lessons(), there.tokens(), home.webhooks(), home.known()
            return [len(one) for one in lists] + [home.about()["events"]]

        tried: list[tuple[Callable[[], Any], tuple[int, ...]]] = [
            (lambda: client.create_lesson("once", dim=DIM), (1, 0, 0, 0, 0)),
            (lambda: client.create_token("once"), (0, 1, 0, 0, 0)),
            (lambda: lesson.add_webhook("https://example.org/told"), (0, 0, 1, 0, 0)),
            (lambda: lesson.make_known(1, [1]), (0, 0, 0, 1, 1)),
            (lambda: lesson.roll_back(home.about()["events"]), (0, 0, 0, 0, 1)),
        ]
        for creating, more in tried:
            before = counts()
            with pytest.raises((UnreachableError, ProblemError), match=r"look before|502"):
                creating()
            assert counts() == [a + b for a, b in zip(before, more, strict=True)]


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_did_not_arrive_is_sent_again(room: Room, kind: str) -> None:
    network = Unsteady(room, httpx.ConnectError("down"))
    with _client(room, kind, httpx.MockTransport(network)) as client:
        made = client.create_lesson("arrives", dim=DIM)
    assert [one["id"] for one in room.done("GET", "/lessons")["lessons"]].count(made.id) == 1
    assert network.sent == ["POST /api/v1/lessons"] * 2


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_is_gone_when_a_deletion_is_sent_again_was_deleted(room: Room, kind: str) -> None:
    as_admin = Room(*room)._replace(engineer=room.admin)
    network = httpx.MockTransport(Unsteady(room, httpx.ReadError("lost")))
    with client_of(as_admin) as there, _client(as_admin, kind, network) as client:
        home = there.create_lesson("short", dim=DIM, instructions=4)
        home.ask(1, features=FEATURES).describe(1)
        lesson = client.lesson(home.id)
        lesson.drop_known(home.make_known(1, [1])["round"])
        lesson.remove_webhook(home.add_webhook("https://example.org/told")["id"])
        client.revoke_token(there.create_token("short")["id"])
        lesson.delete()
        assert home.id not in {one["id"] for one in there.lessons()}
        with pytest.raises(ProblemError, match="no lesson"):
            home.delete()  # nothing was lost


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"token": "tb_secret one"}, "token must be visible"),
        ({"token": "tb_secret\nX-Evil: 1"}, "token must be visible"),
        ({"token": "tb_secr\u00e9t"}, "token must be visible"),
        ({"url": "127.0.0.1:8765"}, "url must begin with http"),
        ({"url": "ftp://localhost"}, "url must begin with http"),
        ({"url": "http://"}, "url must begin with http"),
        ({"url": "http://localhost:eight"}, "url must begin with http"),
        ({"url": ""}, "url must begin with http"),
        ({"tries": 0}, "tries must be at least 1"),
        ({"tries": 1.5}, "tries must be a whole number"),
    ],
)
def test_what_no_request_could_have_is_refused_when_a_client_is_made(
    kind: type[Any], wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(SettingError, match=says) as caught:
        kind(**{"url": "http://localhost", "token": "tb_secret"} | wrong)
    assert "secr" not in str(caught.value)


def test_a_token_may_come_from_a_file_that_ends_with_a_newline(room: Room) -> None:
    secret = room.engineer["Authorization"].removeprefix("Bearer ")
    transport = httpx.MockTransport(lambda request: through(room, request))
    with Client(" http://localhost/\n", f"{secret}\n", transport=transport) as there:
        assert there.me()["role"] == "engineer"


def test_a_request_that_cannot_be_sent_is_no_service_that_does_not_answer(room: Room) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.LocalProtocolError("Illegal header value")

    with (
        client_of(room, transport=httpx.MockTransport(refuse)) as there,
        pytest.raises(TellbackError, match="GET /me cannot be sent: Illegal header") as caught,
    ):
        there.me()
    assert not isinstance(caught.value, UnreachableError)


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
        example["teach"](lesson, 60, random.Random(1))
        assert example["success"](lesson, seed=2, requests=20) >= 18


def test_features_that_json_cannot_hold_are_refused_by_name(room: Room) -> None:
    client = client_of(room)
    lesson = client.lesson(room.lesson())
    for wrong in (float("nan"), float("inf")):
        for send in (lesson.ask, lesson.preview):
            with pytest.raises(FieldError, match="features must be finite numbers"):
                send(0, features=[[1.0, 0.0, wrong], [0.0, 1.0, 0.0]])


def test_numbers_of_numpy_are_numbers_and_what_is_none_is_named(room: Room) -> None:
    with client_of(room) as there:
        lesson = there.create_lesson("numpy", dim=np.int64(DIM), instructions=np.int64(4))  # type: ignore[arg-type]
        acted = {"response": np.int64(1), "propensity": np.float64(0.5)}
        asked = lesson.ask(np.int64(1), features=np.array(FEATURES), acted=acted)  # type: ignore[arg-type]
        assert asked.response == 1
        assert asked.describe(np.int64(2))["new"]  # type: ignore[arg-type]
        for wrong in ("x", [[10**400, 1]], [1.0, 2.0], [["one", 2.0]], 7):
            with pytest.raises(FieldError, match="features must be a row of numbers"):
                lesson.ask(1, features=wrong)  # type: ignore[arg-type]
        for field, value in (("acted", {"response": {1}}), ("acted", {"propensity": np.nan})):
            with pytest.raises(FieldError, match="acted cannot be sent as JSON") as caught:
                lesson.ask(1, features=FEATURES, **{field: value})  # type: ignore[arg-type]
            assert caught.value.field == "acted"


FOR_BROWSERS = {
    "sign_in",
    "sign_out",
    "change_password",
    "get_updates",
    "livez",
    "readyz",
    "metrics",
}


class Waited:
    """A client with an event loop, used as one without: what is awaitable is awaited."""

    def __init__(self, thing: Any) -> None:
        self._thing = thing

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        if not callable(found):
            return found
        return lambda *given, **named: _waited(found(*given, **named))

    def __enter__(self) -> Waited:
        return self

    def __exit__(self, *_: object) -> None:
        _waited(self._thing.close())


def _waited(answer: Any) -> Any:
    if inspect.isasyncgen(answer):

        async def gathered() -> list[Any]:
            return [one async for one in answer]

        return asyncio.run(gathered())
    answer = asyncio.run(answer) if inspect.iscoroutine(answer) else answer
    return Waited(answer) if isinstance(answer, AsyncLesson | AsyncRound) else answer


def _client(room: Room, kind: str, transport: httpx.MockTransport) -> Any:
    if kind == "sync":
        return client_of(room, transport=transport)
    secret = room.engineer["Authorization"].removeprefix("Bearer ")
    return Waited(AsyncClient("http://localhost", secret, transport=transport))


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_there_is_a_method_for_every_operation(room: Room, tmp_path: Path, kind: str) -> None:
    sent: set[tuple[str, str]] = set()

    def noted(request: httpx.Request) -> httpx.Response:
        sent.add((request.method, request.url.path))
        return through(room, request)

    as_admin = Room(*room)._replace(engineer=room.admin)
    name = {"sync": "zoe", "async": "max"}[kind]
    with _client(as_admin, kind, httpx.MockTransport(noted)) as client:
        assert client.me()["role"] == "admin"
        made = client.create_account(name, "a long password")
        assert client.change_account(made["id"], role="engineer")["role"] == "engineer"
        assert name in {one["name"] for one in client.accounts()}
        assert client.change_account(name, role="reviewer")["id"] == made["id"]
        token = client.create_token("robot", days=1, account=made["id"])
        assert token["id"] in {one["id"] for one in client.tokens(everybody=True)}
        client.revoke_token(token["id"])
        lesson = client.lesson(client.create_lesson("all", dim=DIM, instructions=4).id)
        assert lesson.id in {one["id"] for one in client.lessons()}
        first, second = [lesson.ask(1, features=FEATURES) for _ in range(2)]
        assert lesson.suggest(second.number, 3, by="a model")["new"]
        claimed = lesson.claim()
        assert claimed is not None
        assert claimed["round"] == first.number
        lesson.prolong(first.number)
        first.describe(2)
        assert lesson.close(second.number, "skipped")["status"] == "skipped"
        assert lesson.close(second.number, "flagged", "broken")["status"] == "flagged"
        assert [one["round"] for one in lesson.rounds(teacher="root")] == [1, 2]
        assert [one["round"] for one in lesson.rounds(status="flagged")] == [2]
        assert lesson.round(1)["description"] == 2
        item = lesson.make_known(1, [2, 3], practice=True)
        assert [one["round"] for one in lesson.known()] == [item["round"]]
        lesson.drop_known(item["round"])
        assert lesson.shown(1)["candidates"] == 3
        assert lesson.preview(2, round=1).response == first.response
        assert lesson.next_judgement() is None  # equality decides here
        assert lesson.judge(1, met=True) == {"round": 1, "met": True}
        assert lesson.next_check() is None
        assert lesson.next_question() is None
        assert lesson.question(1, 2) is None  # numbers are not doubted
        assert [one["round"] for one in lesson.inbox()] == [2]
        assert lesson.review(2, "accepted")["status"] == "flagged"
        with pytest.raises(ProblemError, match="described by you"):
            lesson.check(1, 0)
        with pytest.raises(ProblemError, match="no picture"):
            lesson.picture(1, 0)
        assert lesson.withdraw(2)
        hook = lesson.add_webhook("https://example.org/told")
        assert [one["id"] for one in lesson.webhooks()] == [hook["id"]]
        lesson.remove_webhook(hook["id"])
        lesson.progress()
        lesson.curve()
        assert lesson.apprentice()["verdict"] == "undecided"
        assert lesson.about()["rounds"] == 3
        lesson.replay()
        lesson.export(tmp_path / "all.jsonl")
        assert lesson.import_(tmp_path / "all.jsonl")["rounds"] == 3
        assert lesson.delete_words(name)["events"] == 0
        assert client.delete_words(name)["lessons"] == 0
        lesson.roll_back(0)
        assert lesson.change(name="another")["name"] == "another"
        lesson.delete()
        own = client.import_lesson("own", [{"text": "one"}, {"text": "two"}])
        assert own.about()["definition"]["material"]["items"] == 2
    described = room.http.get("/openapi.json").json()["paths"]
    missing = {
        one["operationId"]
        for path, methods in described.items()
        for method, one in methods.items()
        if not any(
            method.upper() == sent_method
            and re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)), sent_path)
            for sent_method, sent_path in sent
        )
    }
    assert missing == FOR_BROWSERS


def test_a_program_with_an_event_loop_asks_and_describes_too(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    trouble: list[Any] = [httpx.ReadError("lost"), 503]

    async def no_sleep(seconds: float) -> None:
        waits.append(seconds)

    async def unsteady(request: httpx.Request) -> httpx.Response:
        answer = through(room, request)  # it arrives, and then the answer gets lost
        lost = trouble.pop(0) if trouble and request.url.path.endswith("/rounds") else None
        if isinstance(lost, Exception):
            raise lost
        return answer if lost is None else httpx.Response(lost, headers={"Retry-After": "7"})

    async def robot() -> None:
        secret = room.engineer["Authorization"].removeprefix("Bearer ")
        transport = httpx.MockTransport(unsteady)
        async with AsyncClient("http://localhost", secret, transport=transport) as client:
            made = await client.create_lesson("robot", dim=DIM, instructions=4, agent=AGENT)
            lesson = await client.lesson(made.id)
            asked = await lesson.ask(1, features=FEATURES, context="a room")
            assert (asked.number, asked.advice) == (1, None)
            assert (await asked.describe(2))["new"]
            assert (await lesson.preview(2, features=FEATURES)).response == asked.response
            assert await lesson.next_judgement() is None
            assert (await lesson.judge(1, met=None))["met"] is None
            assert await asked.withdraw()
            assert (await client.send("GET", f"/lessons/{lesson.id}"))["rounds"] == 1
            with pytest.raises(ProblemError, match="no lesson"):
                await client.lesson("nowhere")

    monkeypatch.setattr("tellback.classroom.client.asynchronous.asyncio.sleep", no_sleep)
    asyncio.run(robot())
    assert waits[1:] == [7.0]
    assert not trouble
