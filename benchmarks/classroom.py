"""The cost of the classroom over HTTP: a bare echo, long lessons, many candidates."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.serving import Call, Caller, a_second, service
from benchmarks.speed import bar
from tellback.agents import LORIL, Greedy
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.database import open_database
from tellback.classroom.store.lessons import create_lesson, find_lesson
from tellback.classroom.store.log import Kind, writing
from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import events, rounds, tasks
from tellback.models import Keywords, Ridge

DIM, CANDIDATES, INSTRUCTIONS = 20, 100, 50
SIZES = (100, 1_000, 10_000, 100_000)
MANY_CANDIDATES = (10, 100, 1_000, 10_000, 100_000)
REPEATS, BATCH, CALLERS = 20, 25, 4
ECHO_BAR, FLAT_BAR, TAIL_BAR = 3.0, 1.5, 3.0
WORDS = ("red", "green", "blue", "small", "large", "box", "cup", "ball", "left", "right")

LESSONS = {
    "table": Definition(dim=DIM, instructions=INSTRUCTIONS, agent=LORIL(model=Ridge())),
    "sentences": Definition(dim=DIM, agent=Greedy(model=Keywords(waves=0))),
}


class Room(NamedTuple):
    """A classroom that is running."""

    port: int
    token: str


class Times(NamedTuple):
    """Seconds of single requests."""

    p50: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Times:
        """Their quantiles."""
        return cls(*np.quantile(seconds, (0.5, 0.99)).tolist())

    def __str__(self) -> str:
        return f"{self.p50 * 1e3:.2f} / {self.p99 * 1e3:.2f}"


def classroom(only_echo: bool = False) -> bool:
    met = True
    with databases() as made:
        for backend, new in made.items():
            met &= beside_echo(backend, new())
        if only_echo:
            return met
        for backend, new in made.items():
            for lesson in LESSONS:
                met &= long_lessons(backend, lesson, new)
        many_candidates(made["SQLite"]())
    return met


def beside_echo(backend: str, url: str) -> bool:
    """The classroom and an echo of the same bodies, in turns, so that noise hits both."""
    rng = np.random.default_rng(0)
    lesson, ask = "table", "/api/v1/lessons/table/rounds"
    with (
        running(url, LESSONS) as room,
        service(None) as echo,
        tempfile.TemporaryFile() as file,
    ):
        ours, theirs = Caller(*room), Caller(echo.port)
        names = ("async", "threads", "disk", "ask", "describe")
        seconds: dict[str, list[float]] = {name: [] for name in names}
        ratios = []
        number = 0
        for repeat in range(REPEATS + 1):
            batch: dict[str, list[float]] = {name: [] for name in seconds}
            for _ in range(BATCH):
                body = question(rng, lesson)
                for way in ("async", "threads"):
                    batch[way].append(theirs.seconds(Call("POST", f"/{way}", body)))
                batch["disk"].append(disk_seconds(file))
                batch["ask"].append(ours.seconds(Call("POST", ask, body)))
                number += 1
                batch["describe"].append(ours.seconds(told(rng, lesson, number)))
            if repeat == 0:
                continue  # warms up
            for name, some in batch.items():
                seconds[name] += some
            ratios.append(np.median(batch["ask"]) / np.median(batch["threads"]))
        rate = rates(room, echo.port, rng, lesson, number)
    times = {name: Times.of(some) for name, some in seconds.items()}
    ratio = times["ask"].p50 / times["threads"].p50
    table = Table(
        "",
        "p50 / p99, ms",
        "a second, 4 callers",
        "over echo (def)",
        "over echo (async def)",
        title=f"{backend}: {CANDIDATES} candidates of {DIM} features, "
        f"{REPEATS * BATCH} of each, in turns",
    )
    shown_names = {
        "async": "echo, async def",
        "threads": "echo, def",
        "disk": "4 KB to the disk",
        "ask": "POST rounds",
        "describe": "PUT description",
    }
    for name, shown in shown_names.items():
        table.add_row(
            shown,
            str(times[name]),
            f"{rate[name]:.0f}" if name in rate else "",
            f"{times[name].p50 / times['threads'].p50:.2f}",
            f"{times[name].p50 / times['async'].p50:.2f}",
        )
    show(table)
    print(f"  choosing over the echo        {ratio:8.2f}   {bar(ratio <= ECHO_BAR, ECHO_BAR)}")
    print("  batch by batch                " + " ".join(f"{r:.2f}" for r in ratios))
    met = ratio <= ECHO_BAR
    for name in ("threads", "disk", "ask", "describe"):
        tail = times[name].p99 / times[name].p50
        judged = ""
        if name in ("ask", "describe"):
            met &= tail <= TAIL_BAR
            judged = bar(tail <= TAIL_BAR, TAIL_BAR)
        print(f"  {'p99 over p50, ' + shown_names[name]:<32}{tail:6.2f}   {judged}")
    return bool(met)


def disk_seconds(file: IO[bytes]) -> float:
    """How long the disk takes for a page: every commit waits for that."""
    began = time.perf_counter()
    file.write(bytes(4096))
    file.flush()
    os.fsync(file.fileno())
    return time.perf_counter() - began


def rates(
    room: Room, echo: int, rng: np.random.Generator, lesson: str, number: int
) -> dict[str, float]:
    """Answers a second to several callers at once."""
    bodies = [question(rng, lesson) for _ in range(REPEATS * BATCH)]
    ask = [Call("POST", f"/api/v1/lessons/{lesson}/rounds", body) for body in bodies]
    descriptions = [told(rng, lesson, number + 1 + i) for i in range(len(ask))]
    return {
        "async": a_second(echo, "", [Call("POST", "/async", body) for body in bodies], CALLERS),
        "threads": a_second(echo, "", [Call("POST", "/threads", body) for body in bodies], CALLERS),
        "ask": a_second(*room, ask, CALLERS),
        "describe": a_second(*room, descriptions, CALLERS),
    }


def long_lessons(
    backend: str, lesson: str, new: Callable[[], str], sizes: Sequence[int] = SIZES
) -> bool:
    """Choosing and describing after more and more descriptions, in turns."""
    rng = np.random.default_rng(1)
    table = Table(
        "descriptions",
        "choosing, p50 / p99 ms",
        "describing, p50 / p99 ms",
        "opened from the log, s",
        "from a checkpoint, s",
        title=f"{backend}, {lesson}: how it grows with the log",
    )
    with ExitStack() as stack:
        made: dict[int, tuple[Caller, list[float], list[float], list[int], float, float]] = {}
        for size in sizes:
            url = new()
            learning, starting = long_log(url, lesson, size)
            room = stack.enter_context(running(url, ()))
            made[size] = (Caller(*room), [], [], [size], learning, starting)
        for _ in range(REPEATS * 10):
            for caller, choosing, describing, number, _, _ in made.values():
                number[0] += 1
                body = question(rng, lesson)
                ask = Call("POST", f"/api/v1/lessons/{lesson}/rounds", body)
                choosing.append(caller.seconds(ask))
                describing.append(caller.seconds(told(rng, lesson, number[0])))
    found = {}
    for size, (_, choosing, describing, _, learning, starting) in made.items():
        found[size] = Times.of(choosing[10:]), Times.of(describing[10:])
        table.add_row(f"{size:,}", *map(str, found[size]), f"{learning:.2f}", f"{starting:.2f}")
    show(table)
    met = True
    for i, what in enumerate(("choosing", "describing")):
        grown = found[sizes[-1]][i].p50 / found[sizes[0]][i].p50
        met &= grown <= FLAT_BAR
        line = f"{what}, {sizes[-1]:,} over {sizes[0]:,}"
        print(f"  {line:<34}{grown:8.2f}   {bar(grown <= FLAT_BAR, FLAT_BAR)}")
    return bool(met)


def many_candidates(url: str) -> None:
    """Choosing among more and more candidates, beside an echo of the same bodies."""
    rng = np.random.default_rng(2)
    table = Table(
        "candidates",
        "choosing, p50 / p99 ms",
        "echo (def), p50 / p99 ms",
        "ratio",
        title=f"SQLite: how it grows with the candidates, {DIM} features each",
    )
    with running(url, LESSONS) as room, service(None) as echo:
        ours, theirs = Caller(*room), Caller(echo.port)
        for candidates in MANY_CANDIDATES:
            seconds: tuple[list[float], list[float]] = ([], [])
            for _ in range(max(5, min(100, 100_000 // candidates))):
                body = question(rng, "table", candidates)
                seconds[0].append(ours.seconds(Call("POST", "/api/v1/lessons/table/rounds", body)))
                seconds[1].append(theirs.seconds(Call("POST", "/threads", body)))
            mine, echoed = Times.of(seconds[0][1:]), Times.of(seconds[1][1:])
            ratio = mine.p50 / echoed.p50
            table.add_row(f"{candidates:,}", str(mine), str(echoed), f"{ratio:.2f}")
    show(table)


def question(rng: np.random.Generator, lesson: str, candidates: int = CANDIDATES) -> bytes:
    """A task as a program sends it."""
    features = rng.uniform(size=(candidates, DIM)).round(6).tolist()
    return json.dumps({"instruction": instruction(rng, lesson), "features": features}).encode()


def instruction(rng: np.random.Generator, lesson: str) -> int | str:
    """A request or a description."""
    if lesson == "table":
        return int(rng.integers(INSTRUCTIONS))
    return " ".join(rng.choice(WORDS, 4).tolist())


def told(rng: np.random.Generator, lesson: str, number: int) -> Call:
    """The description of a round."""
    body = json.dumps({"description": instruction(rng, lesson)}).encode()
    return Call("PUT", f"/api/v1/lessons/{lesson}/rounds/{number}/description", body)


@contextmanager
def running(url: str, lessons: Sequence[str] | dict[str, Any]) -> Iterator[Room]:
    """A classroom with accounts, as in earnest, and an engineer's token."""
    database = open_database(url)
    for name in lessons:
        with database.write() as connection:
            create_lesson(connection, name, LESSONS[name].to_data(), name)
    account = accounts.add(database, "bench", "engineer", None)
    token = tokens.make(database, account.id, "bench")[1]
    database.close()
    with service(Settings(url, requests_a_minute=0)) as running:
        yield Room(running.port, token)


def long_log(url: str, lesson: str, size: int) -> tuple[float, float]:
    """Write a log of so many described rounds; seconds to learn it, and to start from a checkpoint.

    Written in one go, as the API would have written it, but for fewer candidates a round.
    """
    rng = np.random.default_rng(3)
    features = rng.uniform(size=(size, 2, DIM))
    now = time.time()
    happened, shown, stand = [], [], []
    for i in range(size):
        number, asked, described = i + 1, 2 * i + 1, 2 * i + 2
        data = {
            "instruction": instruction(rng, lesson),
            "response": 0,
            "features": features[i, 0].tolist(),
            "estimate": 0.1,
            "bonus": 0.1,
            "propensity": 1.0,
            "width": 0.1,
            "highest": 0.2,
            "version": 2 * i,
        }
        said = {"description": instruction(rng, lesson), "saw_request": False, "matched": False}
        common = {"lesson": lesson, "round": number, "account": "bench", "at": now}
        happened += [
            {**common, "seq": asked, "kind": Kind.ASKED.value, "data": json.dumps(data)},
            {**common, "seq": described, "kind": Kind.DESCRIBED.value, "data": json.dumps(said)},
        ]
        matrix = features[i].astype("<f8").tobytes()
        shown.append({"lesson": lesson, "round": number, "features": matrix, "content": "{}"})
        stand.append(
            {
                "lesson": lesson,
                "number": number,
                "status": RoundStatus.DESCRIBED.value,
                "asked": asked,
                "described": described,
                "describer": "bench",
                "wants_second": False,
                "estimate": 0.1,
                "width": 0.1,
                "highest": 0.2,
                "matched": False,
            }
        )
    database = open_database(url)
    with database.write() as connection:
        create_lesson(connection, lesson, LESSONS[lesson].to_data(), lesson)
    with writing(database, lesson) as log:
        log.connection.execute(events.insert(), happened)
        log.connection.execute(tasks.insert(), shown)
        log.connection.execute(rounds.insert(), stand)
        log.latest, log.rounds = 2 * size, size
    with database.read() as connection:
        found = find_lesson(connection, lesson)
    began = time.perf_counter()
    learner = Learner(database, found)
    learning = time.perf_counter() - began
    learner.keep_checkpoint()
    began = time.perf_counter()
    Learner(database, found)
    starting = time.perf_counter() - began
    database.close()
    return learning, starting


@contextmanager
def databases() -> Iterator[dict[str, Callable[[], str]]]:
    """How to make a new database, by back end; the tests' own PostgreSQL, where there is one."""
    from tests.support import real_postgres

    with tempfile.TemporaryDirectory() as folder:
        made = 0

        def sqlite() -> str:
            nonlocal made
            made += 1
            return f"sqlite:///{folder}/{made}.db"

        if missing := real_postgres.missing():
            print(f"*** NOT MEASURED on PostgreSQL: {missing} ***")
            yield {"SQLite": sqlite}
            return
        server = real_postgres.Postgres()
        try:
            yield {"SQLite": sqlite, "PostgreSQL": server.create_database}
        finally:
            server.stop()


def show(table: Table) -> None:
    for column in table.columns[1:]:
        column.justify = "right"
    Console().print(table)


if __name__ == "__main__":
    sys.exit(0 if classroom(sys.argv[1:] == ["echo"]) else 1)
