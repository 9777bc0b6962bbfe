"""Whether the service is well, for those who watch over it: ``/healthz`` and ``/metrics``.

Numbers of requests are those of one process; the others are read from the database when asked for.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.settings import is_loopback
from tellback.classroom.store.log import Kind
from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import events, leases, lessons, rounds
from tellback.classroom.store.webhooks import delivery_backlog
from tellback.classroom.web.api.access import AClassroom
from tellback.classroom.web.callers import Role
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.problems import Problem
from tellback.classroom.web.security import needs

router = APIRouter(tags=["health"])

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
FORWARDED = ("forwarded", "x-forwarded-for", "via")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """The numbers of a process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "tellback_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "tellback_request_seconds",
            "How long answers took.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._gauges = {
            name: Gauge(f"tellback_{name}", says, registry=self.registry)
            for name, says in {
                "lessons": "Lessons.",
                "descriptions": "Descriptions that stand, in all lessons.",
                "descriptions_given": "Descriptions that were ever given.",
                "open_rounds": "Rounds that wait for a description.",
                "outbox_backlog": "Deliveries to hooks that wait.",
                "leases_held": "Leases that this process holds.",
            }.items()
        }

    def answered(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answer."""
        method = scope["method"] if scope["method"] in METHODS else "other"
        # Its pattern, of which there are few: a path would make a number for each round.
        route = getattr(scope.get("route"), "path", "(none)")
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def look(self, connection: Connection, holders: set[str]) -> None:
        """Read from the database what is not of this process."""

        def count(*conditions: Any) -> int:
            found: int = connection.execute(select(func.count()).where(*conditions)).scalar_one()
            return found

        now = {
            "lessons": count(lessons.c.id.is_not(None)),
            "descriptions": count(rounds.c.described.is_not(None)),
            "descriptions_given": count(events.c.kind == Kind.DESCRIBED.value),
            "open_rounds": count(rounds.c.status == RoundStatus.OPEN.value),
            "outbox_backlog": delivery_backlog(connection),
            "leases_held": count(leases.c.holder.in_(holders), leases.c.until >= time.time()),
        }
        for name, value in now.items():
            self._gauges[name].set(value)


class Watch:
    """Counts what is answered, and how long that took."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = 500

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        finally:
            self._metrics.answered(scope, status, time.perf_counter() - begun)


def watch(app: FastAPI) -> None:
    """Count the requests of an app, and let it be asked how it is."""
    app.state.metrics = Metrics()
    app.add_middleware(Watch, metrics=app.state.metrics)
    app.include_router(router)


class Health(BaseModel):
    """How the service is."""

    status: str


@router.get("/healthz", responses=refusals(503))
def healthz(room: AClassroom) -> Health:
    """Whether the service can answer: 200 if its database does, else 503."""
    try:
        with room.database.read() as connection:
            connection.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        raise Problem(503, "database", "The database does not answer.") from error
    return Health(status="ok")


async def _watcher(request: Request) -> None:
    """Let in admins, and whoever is on this machine itself."""
    settings = request.app.state.classroom.settings
    client = request.client
    direct = client is not None and is_loopback(client.host) and not settings.secure
    if direct and not any(name in request.headers for name in FORWARDED):
        return
    await needs(Role.ADMIN)(request)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **refusals(401, 403)},
)
def metrics(request: Request, room: AClassroom, _: Annotated[None, Depends(_watcher)]) -> Response:
    """Numbers for Prometheus: for admins, or from this machine where no proxy is before it."""
    found: Metrics = request.app.state.metrics
    with room.database.read() as connection:
        found.look(connection, room.holders)
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_LATEST)
