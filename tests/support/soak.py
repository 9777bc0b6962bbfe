"""A classroom under load whose server is killed with kill -9, and whose database crashes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tellback.agents import LORIL, Greedy
from tellback.classroom.learning.definition import Definition
from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.database import open_database
from tellback.classroom.store.lessons import create_lesson
from tellback.models import Keywords, Ridge
from tests.support.patience import PATIENCE
from tests.support.soak_clients import (
    DIM,
    INSTRUCTIONS,
    LESSONS,
    SENTENCES,
    TABLE,
    Client,
    Login,
    Memory,
    Program,
    Teacher,
)

TELLBACK = str(Path(sys.executable).with_name("tellback"))
TEACHERS, PROGRAMS = 8, 2

DEFINITIONS = {
    SENTENCES: Definition(dim=DIM, agent=Greedy(model=Keywords(waves=0)), second_share=0.1),
    TABLE: Definition(dim=DIM, instructions=INSTRUCTIONS, agent=LORIL(model=Ridge())),
}


@dataclass(frozen=True)
class Plan:
    """How a classroom is tried.

    Attributes
    ----------
    rounds : int
        How many are asked, over both lessons.
    kills : int
        How often the server is killed.
    workers : int
        How many processes answer.
    lease : float
        Seconds for which a response stays with a teacher.
    seed : int
        Of what clients do and when servers die.
    """

    rounds: int
    kills: int
    workers: int = 1
    lease: float = 2.0
    seed: int = 0


class Service:
    """``tellback serve`` in processes of its own, which can be killed all at once."""

    def __init__(self, url: str, port: int, plan: Plan, log: Path) -> None:
        self.place = f"http://127.0.0.1:{port}"
        self._log = log
        self._command = [TELLBACK, "serve", "--database", url, "--requests", "0"]
        self._command += ["--port", str(port), "--lease", str(plan.lease)]
        self._command += ["--workers", str(plan.workers)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start, and wait until it answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a group of its own, to be killed together
            )
        until = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process.poll() is None, self._log.read_text()[-2000:]
            assert time.monotonic() < until, "the classroom did not start"
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.place}/api/v1/lessons", timeout=5).status_code == 401
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """``kill -9`` to every process of it."""
        if self._process is not None:
            with suppress(ProcessLookupError):  # it died by itself: whoever waits for it will say
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def prepare(url: str) -> tuple[list[Login], list[Login]]:
    """Make the lessons, and accounts with tokens for teachers and for programs."""
    database = open_database(url)
    try:
        with database.write() as connection:
            for lesson in LESSONS:
                create_lesson(connection, lesson, DEFINITIONS[lesson].to_data(), lesson)

        def login(name: str, role: str) -> Login:
            account = accounts.add(database, name, role, None)
            return Login(account.id, tokens.make(database, account.id, "soak")[1])

        return (
            [login(f"teacher {i}", "teacher") for i in range(TEACHERS)],
            [login(f"program {i}", "engineer") for i in range(PROGRAMS)],
        )
    finally:
        database.close()


def soak(
    service: Service,
    plan: Plan,
    logins: tuple[list[Login], list[Login]],
    crash_database: Callable[[], None] | None,
) -> list[Memory]:
    """Have everybody work while the server is killed; what each of them remembers.

    Parameters
    ----------
    service : Service
        The classroom, started; it was killed once more at the end.
    plan : Plan
        How much, how often.
    logins : two lists of Login
        Of teachers and of programs.
    crash_database : callable, optional
        Crashes the database and starts it again.
    """
    finished = threading.Event()

    def common(seed: int, login: Login) -> tuple[str, Login, int, float, threading.Event]:
        return service.place, login, plan.seed * 100 + seed, plan.lease, finished

    teachers: list[Client] = [Teacher(*common(i, one)) for i, one in enumerate(logins[0])]
    share = plan.rounds // PROGRAMS
    programs: list[Client] = [
        Program(share, *common(50 + i, one)) for i, one in enumerate(logins[1])
    ]
    clients = [*programs, *teachers]
    for client in clients:
        client.start()
    try:
        _kill_often(service, plan, clients, crash_database)
        until = time.monotonic() + PATIENCE * plan.kills
        for client in programs:
            client.join(until - time.monotonic())
        finished.set()
        for client in teachers:
            client.join(max(0.0, until - time.monotonic()))
    finally:
        for client in clients:
            client.gone = True
        service.kill()
    stuck = [client for client in clients if client.is_alive()]
    assert not stuck, f"{len(stuck)} clients did not come to an end"
    return [client.memory for client in clients]


def _kill_often(
    service: Service,
    plan: Plan,
    clients: list[Client],
    crash_database: Callable[[], None] | None,
) -> None:
    """Kill the server at random moments while there is work, and start it again each time."""
    draw = random.Random(plan.seed)
    # Nearly every round is asked and then described: two acknowledgements each.
    moments = sorted(draw.uniform(0.05, 1.6) * plan.rounds for _ in range(plan.kills))
    for i, moment in enumerate(moments):
        while sum(client.memory.progress for client in clients) < moment:
            assert any(client.is_alive() for client in clients), "they ended too early"
            time.sleep(0.005)
        time.sleep(draw.uniform(0, 0.05))
        if crash_database and i % 2:  # now the server meets a database that went and came back
            crash_database()
            time.sleep(draw.uniform(0, 0.5))
        service.kill()
        if crash_database and not i % 2:
            crash_database()
        service.start()
