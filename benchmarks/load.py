"""Many at once: where the time goes, how much a service can take, and a long lesson of many people.

``python -m benchmarks.load`` does all of it; ``where``, ``rates``, ``capacity``, ``long`` or
``people`` one part. ``--seconds`` says how long people teach (300 by default, and once more beside
a long lesson), ``--only`` names a database, and ``--write`` puts the table of ``capacity`` into
the page on serving.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.classroom import (
    LESSONS,
    Times,
    databases,
    long_lessons,
    long_log,
    question,
    show,
    told,
)
from benchmarks.serving import Call, Caller, Service, cpu_seconds, database_pids, service
from benchmarks.speed import bar
from benchmarks.traced import HEADER, parts
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.database import open_database
from tellback.classroom.store.lessons import create_lesson

Databases = dict[str, Callable[[], str]]
TABLE, SENTENCES = LESSONS
LONG = 100_000
TEACHERS, PROGRAMS = 50, 10
THINKING, ASKING = 2.0, 0.4
"""Seconds between two descriptions of a teacher, and between two tasks of a program, on average."""

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "serve.md"
BEGIN, END = "<!-- capacity: written by benchmarks/load.py -->", "<!-- end of capacity -->"

SHARE_OF_LONG = 5
"""One in so many clients is in the second lesson."""

REFUSALS = {409, 429, 503}
FLAT = 1.10
"""The most that memory may grow from the middle of a load to its end."""


class Room(NamedTuple):
    """A classroom that is running, and the tokens of its callers."""

    service: Service
    tokens: list[str]
    url: str

    def pids(self) -> list[int]:
        """All processes, with those of the database."""
        return [*self.service.pids(), *database_pids(self.url)]


@contextmanager
def room(
    url: str,
    roles: list[str],
    workers: int,
    long: int = 0,
    traced: bool = False,
) -> Iterator[Room]:
    """A classroom with accounts; the lesson of a table has so many descriptions."""
    if long:
        long_log(url, TABLE, long)
    database = open_database(url)
    secrets = []
    for name in (SENTENCES,) if long else (TABLE, SENTENCES):
        with database.write() as connection:
            create_lesson(connection, name, LESSONS[name].to_data(), name)
    for i, role in enumerate(roles):
        account = accounts.add(database, f"caller {i}", role, None)
        secrets.append(tokens.make(database, account.id, "bench")[1])
    database.close()
    settings = Settings(url, requests_a_minute=0)
    with service(settings, workers, traced) as running:
        yield Room(running, secrets, url)


# Where the time goes.


def where(made: Databases) -> None:
    """The parts of a request, one at a time: medians."""
    repeats = 200
    for backend, new in made.items():
        rng = np.random.default_rng(0)
        with room(new(), ["engineer"], 1, traced=True) as found, service(None) as echo:
            caller, theirs = Caller(found.service.port, found.tokens[0]), Caller(echo.port)
            seen: dict[str, list[dict[str, float]]] = defaultdict(list)
            cpu: Counter[str] = Counter()
            pids: dict[str, list[int]] = {}
            for i in range(repeats + 50):
                body = question(rng, TABLE)
                calls = {
                    "echo": Call("POST", "/threads", body),
                    "ask": Call("POST", f"/api/v1/lessons/{TABLE}/rounds", body),
                    "describe": told(rng, TABLE, i + 1),
                }
                for name, call in calls.items():
                    if i == 50:
                        pids[name] = [echo.pid] if name == "echo" else found.pids()
                    before = cpu_seconds(pids[name]) if i >= 50 else 0.0
                    begun = time.perf_counter()
                    answer = (theirs if name == "echo" else caller).send(call)
                    took = (time.perf_counter() - begun) * 1e3
                    if i >= 50:
                        cpu[name] += cpu_seconds(pids[name]) - before  # type: ignore[assignment]
                        seen[name].append({"ms": took, **parts(answer.headers.get(HEADER) or "")})
        _show_parts(backend, seen, {name: cpu[name] / repeats * 1e3 for name in seen})


def _show_parts(
    backend: str, seen: dict[str, list[dict[str, float]]], cpu: dict[str, float]
) -> None:
    counts = ("statements", "trips", "commits")
    spans = ("ms", "service", "statements ms", "commit ms", "agent", "json")
    titles = ("all", "in the service", "statements", "commit", "agent", "JSON", "the rest")
    table = Table(
        "",
        "statements",
        "round trips",
        "commits",
        *(f"{one}, ms" for one in titles),
        "CPU, ms",
        title=f"{backend}: where a request's time goes (medians; CPU, with the database: mean)",
    )
    for name, some in seen.items():
        middle = {part: float(np.median([one.get(part, 0.0) for one in some])) for part in spans}
        rest = middle["service"] - sum(middle[part] for part in spans[2:])
        table.add_row(
            name,
            *(f"{np.mean([one.get(part, 0) for one in some]):.1f}" for part in counts),
            *(f"{middle[part]:.2f}" for part in spans),
            f"{max(rest, 0):.2f}",
            f"{cpu[name]:.2f}",
        )
    show(table)


# What a service can take.


class Setting(NamedTuple):
    """How a classroom is used."""

    clients: int = 10
    workers: int = 2
    candidates: int = 100
    descriptions: int = 0
    describes: bool = True  # else it asks only


class Rate(NamedTuple):
    """Answers a second, and their times."""

    asked: float
    told: float
    asking: Times
    telling: Times
    cpu: float  # seconds a round, of all processes


def rate(url: str, setting: Setting, seconds: float) -> Rate:
    """Each client asks and describes what it asked, again and again, as quickly as it can."""
    callers = ["engineer"] * setting.clients
    with room(url, callers, setting.workers, setting.descriptions) as found:
        times: dict[str, list[float]] = {"ask": [], "tell": []}
        begins = threading.Barrier(setting.clients + 1)
        ends = [0.0]

        def client(number: int) -> None:
            rng = np.random.default_rng(number)
            caller = Caller(found.service.port, found.tokens[number])
            bodies = [question(rng, TABLE, setting.candidates) for _ in range(4)]
            ask = [Call("POST", f"/api/v1/lessons/{TABLE}/rounds", one) for one in bodies]
            caller.send(ask[0])  # each process opens the lesson
            begins.wait()
            asked = 0
            while time.perf_counter() < ends[0]:
                begun = time.perf_counter()
                opened = json.loads(caller.send(ask[asked % 4]).body)["round"]
                middle = time.perf_counter()
                times["ask"].append(middle - begun)
                if setting.describes:
                    caller.send(told(rng, TABLE, opened))
                    times["tell"].append(time.perf_counter() - middle)
                asked += 1

        threads = [threading.Thread(target=client, args=(i,)) for i in range(setting.clients)]
        for thread in threads:
            thread.start()
        ends[0] = time.perf_counter() + 600
        begins.wait()
        begun, cpu = time.perf_counter(), cpu_seconds(found.pids())
        ends[0] = begun + seconds
        for thread in threads:
            thread.join()
        took, cpu = time.perf_counter() - begun, cpu_seconds(found.pids()) - cpu
    done, told_too = len(times["ask"]), len(times["tell"])
    asking, telling = Times.of(times["ask"]), Times.of(times["tell"] or [0.0])
    return Rate(done / took, told_too / took, asking, telling, cpu / max(done, 1))


def rates(made: Databases, seconds: float = 8.0) -> None:
    """Ten clients, two workers: rounds and descriptions a second, and rounds alone."""
    for backend, new in made.items():
        for setting in (Setting(), Setting(describes=False)):
            found = rate(new(), setting, seconds)
            print(
                f"  {backend}, 10 clients, 2 workers: {found.asked:.0f} rounds and "
                f"{found.told:.0f} descriptions a second, {found.cpu * 1e3:.1f} ms of CPU each; "
                f"ms {found.asking} and {found.telling}",
                flush=True,
            )


CAPACITY = (
    Setting(),
    Setting(clients=1),
    Setting(clients=50),
    Setting(workers=1),
    Setting(candidates=10),
    Setting(candidates=1_000),
    Setting(descriptions=LONG),
)


def capacity(made: Databases, write: bool = False, seconds: float = 5.0) -> None:
    """A table for the documentation, in Markdown."""
    head = ("database", "clients", "workers", "candidates", "descriptions before")
    more = ("rounds and descriptions a second", "ask, ms", "describe, ms", "CPU a pair, ms")
    lines = [f"| {' | '.join((*head, *more))} |", "|---|" + "---:|" * (len(head) + len(more) - 1)]
    said = (
        f"Tasks have 20 features a candidate; each client asks and describes as quickly as it can, "
        f"for {seconds:.0f} s. Times are p50 / p99. One run, clients and database on the same "
        f"machine: {machine()}."
    )
    print("\n".join(("", said, "", *lines)), flush=True)
    for backend, new in made.items():
        for setting in CAPACITY:
            found = rate(new(), setting, seconds)
            cells = (*(f"{one:,}" for one in setting[:4]), f"{found.asked:.0f} + {found.told:.0f}")
            ends = (str(found.asking), str(found.telling), f"{found.cpu * 1e3:.1f}")
            lines.append(f"| {backend} | " + " | ".join((*cells, *ends)) + " |")
            print(lines[-1], flush=True)
    if write:
        written("\n".join((said, "", *lines)))


def written(text: str, page: Path = PAGE) -> None:
    """Put a text between the marks of a page."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no place for the table: {BEGIN} and {END}.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def machine() -> str:
    """The machine and the versions of a measurement."""
    import fastapi
    import psycopg
    import sqlalchemy

    with Path("/proc/cpuinfo").open() as file:
        names = [line.partition(": ")[2].strip() for line in file if line.startswith("model name")]
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores ({names[0] if names else platform.machine()}), load {load:.1f} at "
        f"the start; Python {platform.python_version()}, FastAPI {fastapi.__version__}, SQLAlchemy "
        f"{sqlalchemy.__version__}, psycopg {psycopg.__version__}"
    )


# Many people for a while.


class Tally:
    """What clients saw."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.refused: Counter[str] = Counter()
        self.errors: list[str] = []
        self.memory: list[float] = []

    def call(self, caller: Caller, what: str, call: Call) -> dict[str, Any] | None:
        """The answer to a request; None if there is none."""
        begun = time.perf_counter()
        try:
            answer = caller.answer(call)
        except OSError as error:
            self.errors.append(f"{what}: {error!r}")
            return None
        self.seconds[what].append(time.perf_counter() - begun)
        if answer.status in REFUSALS:
            self.refused[f"{what} {answer.status}"] += 1
        elif answer.status >= 300:
            self.errors.append(f"{what}: {answer.status} {answer.body[:200]!r}")
        elif answer.status != 204:
            found: dict[str, Any] = json.loads(answer.body)
            return found
        return None


def people(made: Databases, seconds: float) -> bool:
    """50 teachers and 10 programs, without and with a second, long lesson."""
    met = True
    for long in (0, LONG):
        for backend, new in made.items():
            met &= _taught(backend, new(), long, seconds)
    return met


def _taught(backend: str, url: str, long: int, seconds: float) -> bool:
    roles = ["teacher"] * TEACHERS + ["engineer"] * PROGRAMS
    tally, stop = Tally(), threading.Event()
    with room(url, roles, 2, long) as found:
        works = [_teach if role == "teacher" else _ask for role in roles]
        threads = []
        for i, work in enumerate(works):
            lesson = TABLE if long and i % SHARE_OF_LONG == 0 else SENTENCES
            caller = Caller(found.service.port, found.tokens[i])
            arguments = (tally, caller, lesson, np.random.default_rng(i), stop)
            threads.append(threading.Thread(target=work, args=arguments))
        before = found.service.pids()
        for thread in threads:
            thread.start()
        begun = said = time.monotonic()
        while time.monotonic() < begun + seconds:
            tally.memory.append(found.service.memory())
            if time.monotonic() > said + 30:
                said = time.monotonic()
                done = sum(map(len, tally.seconds.values()))
                print(f"  {said - begun:.0f} s: {done:,} requests", flush=True)
            time.sleep(min(1.0, seconds / 20))
        stop.set()
        for thread in threads:
            thread.join()
        if found.service.pids() != before:
            tally.errors.append("a process of the service died")
    beside = f", beside {long:,} descriptions" if long else ""
    return _judged(tally, f"{backend}{beside}: {TEACHERS} teachers, {PROGRAMS} programs", seconds)


def _ask(
    tally: Tally, caller: Caller, lesson: str, rng: np.random.Generator, stop: threading.Event
) -> None:
    while not stop.wait(rng.exponential(ASKING)):
        body = question(rng, lesson, 20)
        tally.call(caller, "ask", Call("POST", f"/api/v1/lessons/{lesson}/rounds", body))


def _teach(
    tally: Tally, caller: Caller, lesson: str, rng: np.random.Generator, stop: threading.Event
) -> None:
    while not stop.wait(rng.exponential(THINKING)):
        claimed = tally.call(caller, "claim", Call("POST", f"/api/v1/lessons/{lesson}/claims", b""))
        if claimed is not None:
            tally.call(caller, "describe", told(rng, lesson, claimed["round"]))


def _judged(tally: Tally, title: str, seconds: float) -> bool:
    table = Table("", "requests", "a second", "p50 / p99, ms", title=f"{title}, {seconds:.0f} s")
    for what, times in sorted(tally.seconds.items()):
        table.add_row(what, f"{len(times):,}", f"{len(times) / seconds:.1f}", str(Times.of(times)))
    show(table)
    middle, end = (float(np.median(part)) for part in np.array_split(tally.memory, 4)[1::2])
    refused = ", ".join(f"{what}: {count}" for what, count in tally.refused.items()) or "none"
    print(f"  refused: {refused}; errors: {len(tally.errors)} {tally.errors[:3] or ''}")
    grown = end / middle
    print(f"  memory, MB: {middle:.0f}, later {end:.0f}   {bar(grown <= FLAT, FLAT)}")
    return not tally.errors and bool(grown <= FLAT)


def load(words: list[str] | None = None) -> bool:
    names = ["where", "rates", "capacity", "long", "people"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*names, []])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(words)
    met = True
    with databases() as all_made:
        made = {name: new for name, new in all_made.items() if given.only in (None, name)}
        chosen = given.part or names
        if "where" in chosen:
            where(made)
        if "rates" in chosen:
            rates(made)
        if "capacity" in chosen:
            capacity(made, given.write)
        if "long" in chosen:
            for backend, new in made.items():
                met &= long_lessons(backend, TABLE, new, (100, LONG))
        if "people" in chosen:
            met &= people(made, given.seconds)
    return met


if __name__ == "__main__":
    sys.exit(0 if load() else 1)
