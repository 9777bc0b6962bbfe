"""A classroom that says with each answer where its time went (``Server-Timing``)."""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from sqlalchemy import event
from starlette.types import Message, Receive, Scope, Send

from tellback.classroom.learning import lesson_agent
from tellback.classroom.store import database
from tellback.classroom.web import app, routing

SPENT: ContextVar[Counter[str]] = ContextVar("spent")
HEADER = "server-timing"


def trace() -> None:
    """Time the parts of every request of this process from now on."""
    _time(routing, "strict_json", "json")
    for name in ("choose", "add"):
        _time(lesson_agent.LessonAgent, name, "agent")
    opened = database.Database.__init__

    def open_traced(self: Any, url: str, *, create: bool = True) -> None:
        opened(self, url, create=create)
        engines = {self.engine, self._snapshots}
        for engine in engines:
            # Connections that are no pipelines wait for their BEGIN, too.
            _trace_engine(engine, waits=not self.sqlite and engine is not self.engine)

    database.Database.__init__ = open_traced  # type: ignore[method-assign]
    layers = app.add_middleware

    def add_traced(service: Any, *settings: Any) -> None:
        layers(service, *settings)
        service.add_middleware(_Traced)

    app.add_middleware = add_traced  # type: ignore[assignment]


def parts(header: str) -> dict[str, float]:
    """The parts that an answer names, in milliseconds or numbers."""
    pairs = (one.split(";dur=") for one in header.split(", ") if one)
    return {name: float(value) for name, value in pairs}


class _Traced:
    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        spent: Counter[str] = Counter()
        SPENT.set(spent)
        begun = time.perf_counter()

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                spent["service"] = (time.perf_counter() - begun) * 1e3  # type: ignore[assignment]
                value = ", ".join(f"{name};dur={spent[name]:.4f}" for name in spent)
                message["headers"] = [*message["headers"], (HEADER.encode(), value.encode())]
            await send(message)

        await self.app(scope, receive, told)


def _add(name: str, amount: float) -> None:
    spent: Any = SPENT.get(None)
    if spent is not None:
        spent[name] += amount


def _time(owner: Any, name: str, part: str) -> None:
    function: Callable[..., Any] = getattr(owner, name)

    @functools.wraps(function)
    def timed(*args: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*args, **options)
        finally:
            _add(part, (time.perf_counter() - begun) * 1e3)

    setattr(owner, name, timed)


def _trace_engine(engine: Any, waits: bool) -> None:
    @event.listens_for(engine, "before_cursor_execute")
    def begin(_: Any, __: Any, ___: Any, ____: Any, context: Any, *_____: Any) -> None:
        context.begun = time.perf_counter()

    @event.listens_for(engine, "after_cursor_execute")
    def end(_: Any, __: Any, ___: Any, ____: Any, context: Any, *_____: Any) -> None:
        _add("statements ms", (time.perf_counter() - context.begun) * 1e3)
        _add("statements", 1)
        if not context.execution_options.get("later"):
            _add("trips", 1)

    @event.listens_for(engine, "begin")
    def count(_: Any) -> None:
        _add("trips", 1 + waits)  # that of the commit
        _add("commits", 1)

    _time(engine.dialect, "do_commit", "commit ms")
