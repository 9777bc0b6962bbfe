"""Connections that are too slow end, and heads that are too large are refused."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tellback.classroom.settings import Settings
from tellback.classroom.web.security import connections
from tests.support.classroom_server import Running, running_classroom
from tests.support.patience import PATIENCE, wait_until

HEAD = b"POST /api/v1/lessons HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "READ_SECONDS"):
        monkeypatch.setattr(connections, name, 0.2)
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as running:
        yield running


@pytest.fixture
def url(running: Running) -> str:
    return running.url


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give requests time to arrive: on a busy machine this process may have to wait."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS"):
        monkeypatch.setattr(connections, name, PATIENCE)


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    assert parts.port is not None
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /api",
        HEAD,
        HEAD + b"Content-Length: 100000\r\n\r\n",
        HEAD + b"Content-Length: 100000\r\n\r\n" + b" " * 20_000,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he",
    ],
)
def test_a_request_that_does_not_arrive_ends_the_connection(
    url: str, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine the service may hang up before all of it is sent.
    with connected(url) as slow, suppress(ConnectionError):
        slow.sendall(sent)
        while slow.recv(2**16):  # until the service hangs up
            pass
    patient(monkeypatch)
    assert httpx.get(f"{url}/healthz", timeout=PATIENCE).is_success


@pytest.mark.parametrize("path", ["login", "lessons/import?name=x"])
@pytest.mark.parametrize("hangs_up", ["client", "service"])
def test_a_body_that_breaks_off_is_the_clients_doing_and_no_failure(
    running: Running,
    log: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    hangs_up: str,
) -> None:
    if hangs_up == "client":
        patient(monkeypatch)
    with connected(running.url) as broken:
        head = HEAD.replace(b"lessons", path.encode()) + b"Content-Length: 6000\r\n\r\n{"
        broken.sendall(head)
        if hangs_up == "service":
            assert broken.recv(2**16) == b""
    wait_until(log.getvalue)
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (line["event"], line["level"], line["status"]) == ("request", "info", 499)
    patient(monkeypatch)
    metrics = httpx.get(f"{running.url}/metrics", timeout=PATIENCE).text
    counted = [line for line in metrics.splitlines() if "requests_total" in line and "POST" in line]
    assert len(counted) == 1
    assert 'status="499"' in counted[0]


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (HEAD, b"x: 1\r\n" * 101),
        (HEAD + b"x: ", b"a" * 2**16),
        (b"GET /", b"a" * 2**16),
        (HEAD, (b"x: " + b"a" * 1000 + b"\r\n") * 70),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"x: 1\r\n" * 101),
    ],
    ids=["many", "one", "path", "in all", "trailers"],
)
def test_a_large_head_is_refused_before_it_ends(
    url: str, first: bytes, more: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    with connected(url) as large:
        large.sendall(first)
        answer = b""
        # Again and again without an end, until the service answers.
        with suppress(ConnectionError):
            for _ in range(100):
                large.sendall(more)
        with suppress(ConnectionError):
            while part := large.recv(2**16):
                answer += part
    # It is lost if more was on its way.
    assert answer.startswith(b"HTTP/1.1 431 ") or not answer
    assert httpx.get(f"{url}/healthz", timeout=PATIENCE).is_success


def test_a_hundred_and_one_headers_are_refused_with_their_limit(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    for count, status in ((98, 200), (101, 431)):  # httpx.get has Host and Connection, too
        headers = [("cookie", "a=1")] * count
        request = httpx.Request("GET", f"{url}/healthz", headers=headers)
        with httpx.Client(timeout=PATIENCE) as client:
            answer = client.send(request)
        assert answer.status_code == status
    assert "100 fields" in answer.text
    assert answer.headers["content-type"] == "text/plain"


def test_an_unknown_method_is_refused_in_plain_text(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    answer = httpx.request("INVENTED", f"{url}/healthz", timeout=PATIENCE)
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")


def test_heads_below_the_limits_are_read_however_many_follow(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    head = HEAD[:-2].replace(b"POST /api/v1/lessons", b"GET /healthz")
    with connected(url) as many:
        for _ in range(3):
            many.sendall(head + b"\r\n" + b"x: " + b"a" * 60_000 + b"\r\n\r\n")
            assert many.recv(12) == b"HTTP/1.1 200"
            while b"}" not in many.recv(2**16):
                pass


def test_an_answer_that_is_not_read_ends_the_connection(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    waits, pause = threading.Event(), connections.TimedProtocol.pause_writing

    def noted(self: connections.TimedProtocol) -> None:
        pause(self)
        waits.set()

    monkeypatch.setattr(connections.TimedProtocol, "pause_writing", noted)
    with httpx.Client(base_url=f"{running.url}/api/v1", timeout=PATIENCE) as client:
        lesson = client.post("/lessons", json={"name": "long", "dim": 4096}).json()["id"]
        task = {"instruction": "go", "features": [[0.5] * 4096] * 100}
        for _ in range(20):
            client.post(f"/lessons/{lesson}/rounds", json=task).raise_for_status()
    with connected(running.url) as slow:
        path = f"/api/v1/lessons/{lesson}/export"
        slow.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert waits.wait(PATIENCE)
        wait_until(lambda: not running.connections)


def test_a_body_that_keeps_arriving_is_read_however_long_it_takes(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    monkeypatch.setattr(connections, "LEAST_BYTES", 1)
    body = b'{"name": "lamp", "dim": 2}'
    with connected(running.url) as steady:
        steady.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body))
        for byte in body[:-1]:
            steady.sendall(bytes([byte]))
            a_period_passes(running)
        steady.sendall(body[-1:])
        assert steady.recv(12) == b"HTTP/1.1 201"


def a_period_passes(running: Running) -> None:
    """Let the time end in which a part of the body must arrive, once it has arrived."""
    wait_until(lambda: running.connections)
    protocol: Any = next(iter(running.connections))
    wait_until(lambda: protocol._arrived)
    protocol.loop.call_soon_threadsafe(protocol._demand_progress)
    wait_until(lambda: not protocol._arrived)
