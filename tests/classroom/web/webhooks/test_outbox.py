"""Events are delivered to webhooks at least once, in order, and signed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.exc import OperationalError

from tellback.classroom.settings import Settings
from tellback.classroom.signing import verified
from tellback.classroom.store.tables import deliveries, leases
from tellback.classroom.store.webhooks import Delivery
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.webhooks import outbox as outbox_module
from tests.support.api_room import Room
from tests.support.patience import PATIENCE, wait_until


class Receiver:
    """A program that is told of new descriptions, and fails as often as it is asked to."""

    def __init__(self, released: threading.Event | None = None) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if released is not None:
                    released.wait()
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


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a receiver may need longer to answer, and a test longer than a lease."""
    for name in ("LEASE_SECONDS", "TIMEOUT_SECONDS", "TURN_SECONDS"):
        monkeypatch.setattr(outbox_module, name, PATIENCE)


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
        patch.setattr(outbox_module, "mark_attempt", dies)
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


def test_any_error_of_a_delivery_is_a_failed_attempt(
    room: Room, hooked: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> int:
        raise ValueError("server_hostname cannot be an empty string")

    lesson, _ = hooked
    room.ask(lesson)
    room.tell(lesson, 1, 2)
    monkeypatch.setattr(outbox_module, "_posted", refused)
    assert room.inside.outbox.turn() == 1
    assert room.inside.outbox.turn() == 0  # it waits
    (shown,) = room.done("GET", f"/lessons/{lesson}/webhooks")["webhooks"]
    assert shown["waiting"] == 1
    assert shown["trouble"] == "ValueError: server_hostname cannot be an empty string"


def test_a_slow_hook_does_not_delay_the_others(room: Room, receiver: Receiver) -> None:
    lessons = [room.lesson(), room.lesson()]
    quick = room.done("POST", f"/lessons/{lessons[1]}/webhooks", json={"url": receiver.url})
    released = threading.Event()
    slow = Receiver(released)
    hook = room.done("POST", f"/lessons/{lessons[0]}/webhooks", json={"url": slow.url})
    with room.inside.database.write() as connection:
        connection.execute(delete(leases))
    outbox = room.inside.outbox
    for lesson in lessons:
        room.ask(lesson)
        room.tell(lesson, 1, 2)
    outbox.look()  # the slow one is being delivered to
    for number in (2, 3):
        room.ask(lessons[1])
        room.tell(lessons[1], number, 2)

    def delivered() -> bool:
        outbox.look()
        return len(receiver.got) == 3

    wait_until(delivered)
    assert not slow.got
    released.set()
    wait_until(lambda: len(slow.got) == 1)
    outbox.turn()
    slow.close()
    for lesson, made in zip(lessons, (hook, quick), strict=True):
        room.done("DELETE", f"/lessons/{lesson}/webhooks/{made['id']}")


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
