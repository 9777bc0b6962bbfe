"""One line of JSON for each request, without secrets.

Lines name the request's id, the route and not the path, the account and the client's address, and
hold neither bodies nor headers.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
import time
import traceback
from typing import Any, TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.web.monitoring.metrics import method_of, route_of
from tellback.classroom.web.problem_handlers import send_problem
from tellback.classroom.web.problems import Problem

logger = logging.getLogger("tellback.classroom")
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class JSONLines(logging.Formatter):
    """A record as a line of JSON; the items of ``extra={"fields": {...}}`` are added."""

    def format(self, record: logging.LogRecord) -> str:  # noqa: D102
        line = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        return json.dumps(line, default=str)


def log_to(stream: TextIO = sys.stderr, level: int = logging.INFO) -> logging.Handler:
    """Write the classroom's log to a stream, as lines of JSON."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONLines())
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    return handler


class RequestLog:
    """Middleware: an id for each request, a line in the log, and an answer if the app fails."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log the outcome."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        request_id = _request_id(scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        status = 0

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                header = (b"x-request-id", request_id.encode())
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        try:
            await self.app(scope, receive, with_id)
        except Exception as error:
            _log_failure(request_id, error)
            if status:
                raise  # a part of the answer was sent: the connection must break
            detail = f"The classroom failed. Its log says why, under the id {request_id}."
            await send_problem(with_id, Problem(500, "internal_error", detail))
        finally:
            caller = state.get("caller")
            fields = {
                "id": request_id,
                "method": method_of(scope),
                "route": route_of(scope),
                "status": status,
                "ms": round((time.perf_counter() - begun) * 1000, 1),
                "account": caller.account if caller else None,
                "client": scope["client"][0] if scope.get("client") else None,
            }
            logger.info("request", extra={"fields": fields})


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return str(value.decode())
    return secrets.token_hex(8)


def _log_failure(request_id: str, error: Exception) -> None:
    # The frames, but not the message: it may hold data of users.
    frames = [
        f"{frame.filename}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    fields = {"id": request_id, "error": type(error).__name__, "where": frames[-12:]}
    logger.error("failed", extra={"fields": fields})
