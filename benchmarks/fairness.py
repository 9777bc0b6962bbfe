"""What a teacher notices while somebody else sends what takes long.

For each kind of load: the 95th percentile of a teacher's requests (a description and the list of
lessons, in turns) while it runs, over the same without it, measured just before. Bar: below 5.
"""

from __future__ import annotations

import base64
import io
import json
import socket
import subprocess
import sys
import tempfile
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

from benchmarks.serving import HOST, Call, Caller, service
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.database import open_database

BAR = 5.0
SECONDS = 12.0
"""How long each load runs, and is measured."""

API = "/api/v1"
ROUNDS = 20_000
LINE = {"instruction": "go left", "features": [[0.0, 1.0], [1.0, 0.0]], "response": 0}


def fairness() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(f"sqlite:///{folder}/classroom.db")
        database = open_database(settings.database)
        secrets = []
        for name in ("teacher", "robot"):
            account = accounts.add(database, name, "engineer", None)
            secrets.append(tokens.make(database, account.id, name)[1])
        database.close()
        with service(settings) as running:
            return _measured(running.port, *secrets)


def _measured(port: int, teacher: str, robot: str) -> bool:
    with _http(port, teacher) as http:
        words = http.post("/lessons", json={"name": "words", "dim": 2}).json()["id"]
        lines = (json.dumps(LINE) + "\n").encode() * ROUNDS
        key = {"Idempotency-Key": "all"}
        http.post(f"/lessons/{words}/import", content=lines, headers=key).raise_for_status()
    calls = _calls(words)
    _percentile(port, teacher, calls, 5.0)  # warm
    print(f"{'load':>22}  {'alone ms':>9} {'beside ms':>9} {'ratio':>6}")
    met = True
    for load in sys.argv[1:] or LOADS:
        alone = _percentile(port, teacher, calls, SECONDS / 2)
        with _loading(load, port, robot):
            beside = _percentile(port, teacher, calls, SECONDS)
        met &= beside < BAR * alone
        print(f"{load:>22}  {alone * 1e3:9.1f} {beside * 1e3:9.1f} {beside / alone:6.2f}")
    print(f"below {BAR:g}: {'met' if met else 'MISSED'}")
    return met


def _calls(lesson: str) -> Iterator[Call]:
    for number in count(1):
        body = json.dumps({"description": f"went left {number % 7}"}).encode()
        yield Call("PUT", f"{API}/lessons/{lesson}/rounds/{number}/description", body)
        yield Call("GET", f"{API}/lessons", b"")


def _percentile(port: int, token: str, calls: Iterator[Call], seconds: float) -> float:
    """The 95th percentile of the seconds of requests, one after another with short pauses."""
    caller, found = Caller(port, token), []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found.append(caller.seconds(next(calls)))
        time.sleep(0.01)
    caller.close()
    return float(np.percentile(found, 95))


@contextmanager
def _loading(load: str, port: int, token: str) -> Iterator[None]:
    """Another process sends a load meanwhile."""
    words = [sys.executable, "-m", "benchmarks.fairness", load, str(port), token]
    process = subprocess.Popen(words, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it has begun
    try:
        yield
    finally:
        if process.poll() is not None:
            raise RuntimeError(f"The load {load} ended by itself.")
        process.terminate()
        process.wait(30)
        process.stdout.close()


def _http(port: int, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
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
    "a task of 10 MB": lambda: _posting(
        "rounds",
        json.dumps({"instruction": "go", "features": [[0.25, 0.5]] * 90_000}).encode(),
        2,
    ),
    "300 slow connections": lambda: _slow,
}


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(0 if fairness() else 1)
    LOADS[sys.argv[1]]()(int(sys.argv[2]), sys.argv[3])
    print("begun", flush=True)
    time.sleep(3600)
