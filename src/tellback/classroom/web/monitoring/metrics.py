"""Metrics for Prometheus.

Counts of requests are those of one process; the others are read from the database at each scrape.
"""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.store.database import Connection
from tellback.classroom.store.reports import service_counts

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def method_of(scope: Scope) -> str:
    """The method of a request; callers can invent any number of others."""
    return str(scope["method"]) if scope["method"] in METHODS else "other"


class Metrics:
    """The metrics of a process."""

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
                "descriptions": "Active descriptions, in all lessons.",
                "descriptions_given": "Descriptions ever given, active or not.",
                "open_rounds": "Rounds that wait for a description.",
                "outbox_backlog": "Deliveries to webhooks that wait.",
                "leases_held": "Leases that this process holds.",
            }.items()
        }

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answer."""
        method = method_of(scope)
        # The pattern of the path: the path itself would make a series for each round.
        route = getattr(scope.get("route"), "path", "(none)")
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def read(self, connection: Connection, holders: set[str]) -> None:
        """Set the gauges from the database."""
        for name, value in service_counts(connection, holders).items():
            self._gauges[name].set(value)


class RequestMetrics:
    """Middleware: counts and times answers."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
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
            self._metrics.count(scope, status, time.perf_counter() - begun)
