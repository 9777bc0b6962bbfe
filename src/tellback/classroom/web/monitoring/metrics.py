"""Metrics for Prometheus.

Several processes share their counts by files (``prometheus_client``'s multiprocess mode), so that
each answers for all. What is in the database is read at each scrape.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.store.database import Connection
from tellback.classroom.store.reports import service_counts

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder of the files, for a service of several processes."""

GAUGES = {
    "lessons": "Lessons.",
    "descriptions": "Active descriptions, in all lessons.",
    "descriptions_given": "Descriptions ever given, active or not.",
    "open_rounds": "Rounds that wait for a description.",
    "outbox_backlog": "Deliveries to webhooks that wait.",
    "leases_held": "Leases that are held, by any process.",
}
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def method_of(scope: Scope) -> str:
    """The method of a request; callers can invent any number of others."""
    return str(scope["method"]) if scope["method"] in METHODS else "other"


def route_of(scope: Scope) -> str:
    """The route of a request, with the names of its parameters in place of their values."""
    route = scope.get("route")
    if route is None:
        return "(none)"
    # The route knows its path only within its router, whose prefix has no parameters.
    prefix = scope["path"].split("/")[: -route.path.count("/")]
    return "/".join(prefix) + str(route.path)


class _Gauges(Collector):
    """What was counted in the database."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The metrics, for a registry."""
        return [
            GaugeMetricFamily(f"tellback_{name}", GAUGES[name], value)
            for name, value in self._counts.items()
        ]


class Metrics:
    """The metrics of a process."""

    def __init__(self) -> None:
        self.requests = Counter(
            "tellback_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=None,
        )
        self.seconds = Histogram(
            "tellback_request_seconds",
            "How long answers took.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=None,
        )

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answer."""
        method = method_of(scope)
        # The pattern of the path: the path itself would make a series for each round.
        route = route_of(scope)
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def exposition(self, connection: Connection) -> bytes:
        """All metrics of the service, as Prometheus reads them."""
        exposed = CollectorRegistry()
        if FOLDER in os.environ:
            MultiProcessCollector(exposed)  # type: ignore[no-untyped-call]
        else:
            exposed.register(self.requests)
            exposed.register(self.seconds)
        exposed.register(_Gauges(service_counts(connection)))
        return generate_latest(exposed)


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
