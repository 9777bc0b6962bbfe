"""Services in processes of their own, and a client that times them over real HTTP."""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from tellback.classroom.settings import Settings, free_port
from tellback.classroom.web import serving

HOST = "127.0.0.1"
IDLE = 2.0
"""Seconds of idling after which a connection is renewed: uvicorn closes it after five."""


class Shown(BaseModel):
    """What the classroom is sent, as anybody would write it down."""

    instruction: int | str
    features: list[list[float]]


def echo_app() -> FastAPI:
    """The least that FastAPI can do with such a body: check it, and give it back."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.post("/async")
    async def echo_async(body: Shown) -> Shown:
        return body

    @app.post("/threads")
    def echo_threads(body: Shown) -> Shown:
        return body

    return app


class Call(NamedTuple):
    """A request to be timed."""

    method: str
    path: str
    body: bytes


class Service(NamedTuple):
    """A service that is running, in one process or several."""

    port: int
    pid: int

    def pids(self) -> list[int]:
        """Its processes that answer: the children of the first one, if it has any."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        # One of them is Python's own, which tracks resources.
        workers = [int(one) for one in children if b"spawn_main" in _command(int(one))]
        return workers or [self.pid]

    def memory(self) -> float:
        """Megabytes of these processes."""
        pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in self.pids())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def cpu_seconds(pids: Sequence[int]) -> float:
    """Processor seconds that processes have used."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def database_pids(url: str) -> list[int]:
    """The processes of PostgreSQL that serve a database."""
    name = url.rpartition("/")[2].partition("?")[0].encode()
    found = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return [
        pid for pid in found if _command(pid).startswith(b"postgres: ") and name in _command(pid)
    ]


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    body: bytes
    headers: Any


class Caller:
    """A connection that is kept alive, for as long as it is used."""

    def __init__(self, port: int, token: str = "") -> None:
        self._http = http.client.HTTPConnection(HOST, port, timeout=120)
        self._used = 0.0
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def _connect(self) -> None:
        if time.monotonic() - self._used > IDLE:
            self._http.close()
            self._http.connect()
            self._http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def answer(self, call: Call) -> Answer:
        """The answer, whatever it is."""
        self._connect()
        self._http.request(call.method, call.path, call.body, self._headers)
        answer = self._http.getresponse()
        told = answer.read()
        self._used = time.monotonic()
        return Answer(answer.status, told, answer.headers)

    def send(self, call: Call) -> Answer:
        """The answer, which must not be a refusal."""
        found = self.answer(call)
        if found.status >= 300:
            raise RuntimeError(f"{call.method} {call.path}: {found.status} {found.body[:300]!r}")
        return found

    def seconds(self, call: Call) -> float:
        """How long an answer takes."""
        self._connect()
        began = time.perf_counter()
        self.send(call)
        return time.perf_counter() - began

    def close(self) -> None:
        """Hang up."""
        self._http.close()


def a_second(port: int, token: str, calls: Sequence[Call], callers: int) -> float:
    """Answers a second to several callers at once."""
    shares = [calls[i::callers] for i in range(callers)]

    def work(share: Sequence[Call]) -> None:
        caller = Caller(port, token)
        for call in share:
            caller.send(call)
        caller.close()

    threads = [threading.Thread(target=work, args=(share,)) for share in shares]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(calls) / (time.perf_counter() - began)


@contextmanager
def service(settings: Settings | None, workers: int = 1, traced: bool = False) -> Iterator[Service]:
    """A classroom, or an echo where no settings are given; ``traced`` for one that times itself."""
    port = free_port(HOST, random.SystemRandom().randrange(20_000, 30_000))
    told = json.dumps(settings and [settings.database, settings.requests_a_minute, workers, traced])
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.serving", str(port), told],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: _listens(port), process)
        yield Service(port, process.pid)
    finally:
        process.terminate()
        process.wait(60)


def wait_for(there: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until a service is up."""
    until = time.monotonic() + 300
    while not there():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError("A service did not start.")
        time.sleep(0.05)


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


def _serve(port: int, told: str) -> None:
    values = json.loads(told)
    if values is not None:
        url, requests_a_minute, workers, traced = values
        if traced:
            from benchmarks.traced import trace

            trace()
        serving.serve(Settings(url, requests_a_minute=requests_a_minute), HOST, port, workers)
        return
    # As the classroom is run: see tellback.classroom.web.serving.
    uvicorn.run(
        echo_app(), host=HOST, port=port, access_log=False, log_config=None, server_header=False
    )


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2])
