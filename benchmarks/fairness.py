"""What a teacher notices while somebody else sends what takes long.

For each kind of load and database: the 95th percentile of a teacher's requests (a description and
the list of lessons, in turns) while it runs, over the same without it. Both are measured in short
windows, in turns, so that noise hits both. Bar: below 5. Name loads to measure only those.
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import httpx
import numpy as np
from PIL import Image

from benchmarks.classroom import databases
from benchmarks.serving import HOST, Call, Caller, Service, cpu_seconds, service
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.database import open_database

BAR = 5.0
TURNS = 3
ALONE, BESIDE = 1.5, 2.5
"""Seconds of a window without and with the load."""

IDLE_SHARE, IDLE_SECONDS, LONGEST_WAIT = 0.1, 0.25, 10.0
"""A service that uses less than this share of a processor, for so long, has done what it was sent;
and how long that is waited for."""

API = "/api/v1"
ROUNDS = 20_000
LINE = {"instruction": "go left", "features": [[0.0, 1.0], [1.0, 0.0]], "response": 0}


def fairness(words: list[str] | None = None) -> bool:
    loads = sys.argv[1:] if words is None else words
    met = True
    with databases() as made:
        for backend, new in made.items():
            settings = Settings(new())
            database = open_database(settings.database)
            secrets = []
            for name in ("teacher", "robot"):
                account = accounts.add(database, name, "engineer", None)
                secrets.append(tokens.make(database, account.id, name)[1])
            database.close()
            with service(settings) as running:
                teacher, robot = secrets
                met &= _measured(backend, running, teacher, robot, loads or list(LOADS))
    return met


def _measured(backend: str, running: Service, teacher: str, robot: str, loads: list[str]) -> bool:
    port = running.port
    with _http(port, teacher) as http:
        words = http.post("/lessons", json={"name": "words", "dim": 2}).json()["id"]
        lines = (json.dumps(LINE) + "\n").encode() * ROUNDS
        key = {"Idempotency-Key": "all"}
        http.post(f"/lessons/{words}/import", content=lines, headers=key).raise_for_status()
    calls = _calls(words)
    _seconds(port, teacher, calls, 3.0)  # warm
    print(f"{backend:>22}  {'alone ms':>9} {'beside ms':>9} {'ratio':>6}   p95", flush=True)
    met = True
    for load in loads:
        alone: list[float] = []
        beside: list[float] = []
        with _loading(load, port, robot) as loader:
            for _ in range(TURNS):
                loader.send_signal(signal.SIGSTOP)
                _wait_until_idle(running)
                alone += _seconds(port, teacher, calls, ALONE)
                loader.send_signal(signal.SIGCONT)
                beside += _seconds(port, teacher, calls, BESIDE)
        usual, under = (float(np.percentile(some, 95)) * 1e3 for some in (alone, beside))
        met &= under < BAR * usual
        print(f"{load:>22}  {usual:9.1f} {under:9.1f} {under / usual:6.2f}", flush=True)
    print(f"below {BAR:g}: {'met' if met else 'MISSED'}", flush=True)
    return met


def _wait_until_idle(running: Service) -> None:
    """Wait until the service has done what it was sent before the load was stopped."""
    until = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < until:
        before = cpu_seconds(running.pids())
        time.sleep(IDLE_SECONDS)
        if cpu_seconds(running.pids()) - before < IDLE_SHARE * IDLE_SECONDS:
            return


def _calls(lesson: str) -> Iterator[Call]:
    for number in count(1):
        body = json.dumps({"description": f"went left {number % 7}"}).encode()
        yield Call("PUT", f"{API}/lessons/{lesson}/rounds/{number}/description", body)
        yield Call("GET", f"{API}/lessons", b"")


def _seconds(port: int, token: str, calls: Iterator[Call], seconds: float) -> list[float]:
    """The seconds of requests, one after another with short pauses."""
    caller, found = Caller(port, token), []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found.append(caller.seconds(next(calls)))
        time.sleep(0.01)
    caller.close()
    return found


@contextmanager
def _loading(load: str, port: int, token: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process sends a load meanwhile."""
    words = [sys.executable, "-m", "benchmarks.fairness", load, str(port), token, "send"]
    process = subprocess.Popen(words, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it has begun
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        if process.poll() is not None:
            raise RuntimeError(f"The load {load} ended by itself.")
        process.terminate()
        process.wait(30)
        process.stdout.close()


def _http(port: int, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return httpx.Client(base_url=f"http://{HOST}:{port}{API}", headers=headers, timeout=600)


# The loads, each in a process of its own until it is ended.


def _picture(side: int) -> str:
    file = io.BytesIO()
    Image.fromarray(np.zeros((side, side, 3), dtype=np.uint8)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def _posting(path: str, content: bytes, clients: int) -> Callable[[int, str], None]:
    def load(port: int, token: str) -> None:
        with _http(port, token) as http:
            made = {"name": "load", "candidates": "images"} if b'"images"' in content else None
            lesson = http.post("/lessons", json=made or {"name": "load", "dim": 2}).json()["id"]

        def client() -> None:
            with _http(port, token) as http:
                while True:
                    with suppress(httpx.TransportError):
                        key = {"Idempotency-Key": uuid.uuid4().hex}
                        answer = http.post(
                            f"/lessons/{lesson}/{path}", content=content, headers=key
                        )
                        if answer.json().get("field") == "body":
                            os._exit(2)  # it is refused unread: that would be no load
                        time.sleep(float(answer.headers.get("Retry-After", 0)))

        for _ in range(clients):
            threading.Thread(target=client, daemon=True).start()

    return load


def _task(pictures: int) -> bytes:
    return json.dumps({"instruction": "red", "images": [_picture(2000)] * pictures}).encode()


def _slow(port: int, _: str) -> None:
    """300 connections that send a byte a second: no request, half of one, or half a body."""
    head = b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    beginnings = (b"", head, head + b"Content-Length: 10000\r\n\r\n{")
    kept: list[tuple[socket.socket, bytes]] = []

    def trickle() -> None:
        while True:
            for i in range(300):
                if i >= len(kept):
                    kept.append((socket.create_connection((HOST, port)), beginnings[i % 3]))
                one, first = kept[i]
                try:
                    one.sendall(first or b" ")
                except OSError:  # it was ended: here is the next
                    one.close()
                    kept[i] = socket.create_connection((HOST, port)), beginnings[i % 3]
                else:
                    kept[i] = one, b" "
            time.sleep(1)

    threading.Thread(target=trickle, daemon=True).start()


LOADS: dict[str, Callable[[], Callable[[int, str], None]]] = {
    "200 large pictures": lambda: _posting("rounds", _task(200), 10),
    "5 large pictures": lambda: _posting("preview", _task(5), 10),
    "40 MB of blank lines": lambda: _posting("import", b"\n" * 40_000_000, 1),
    "20,000 rounds imported": lambda: _posting(
        "import", (json.dumps(LINE) + "\n").encode() * 20_000, 1
    ),
    "a task of 4 MB": lambda: _posting(
        "rounds",
        json.dumps({"instruction": "go", "features": [[math.pi, math.e]] * 90_000}).encode(),
        2,
    ),
    "300 slow connections": lambda: _slow,
}


if __name__ == "__main__":
    if sys.argv[-1] != "send":
        sys.exit(0 if fairness() else 1)
    LOADS[sys.argv[1]]()(int(sys.argv[2]), sys.argv[3])
    print("begun", flush=True)
    time.sleep(3600)
