"""One line of JSON for each request: enough to find out what happened, and no secret.

Lines name the route and not the path, and hold neither bodies nor headers.
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

from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.web.problem_responses import send_refusal
from tellback.classroom.web.problems import Problem

logger = logging.getLogger("tellback.classroom")
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class JSONLines(logging.Formatter):
    """A record as a line of JSON; what was given as ``extra={"said": {...}}`` joins it."""

    def format(self, record: logging.LogRecord) -> str:  # noqa: D102
        line = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "said", {}),
        }
        return json.dumps(line, default=str)


def log_to(stream: TextIO = sys.stderr, level: int = logging.INFO) -> logging.Handler:
    """Write what the classroom logs, as lines of JSON."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONLines())
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    return handler


class RequestLog:
    """A name for each request, a line about it, and an answer if the app fails."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, and write down what came of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        number = _request_id(scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = number
        status = 0

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                told_id = (b"x-request-id", number.encode())
                message["headers"] = [*message.get("headers", ()), told_id]
            await send(message)

        try:
            await self.app(scope, receive, told)
        except Exception as error:
            _log_failure(number, error)
            if status:
                raise  # half an answer is out: the connection must break
            says = f"The classroom failed; its log says more under {number}."
            await send_refusal(told, Problem(500, "failed", says))
        finally:
            caller = state.get("caller")
            method = scope["method"]
            said = {
                "id": number,
                "method": method if method in _METHODS else "other",
                "route": route_of(scope),
                "status": status,
                "ms": round((time.perf_counter() - begun) * 1000, 1),
                "account": caller.account if caller else None,
            }
            logger.info("request", extra={"said": said})


def route_of(scope: Scope) -> str:
    """The route of a request, with the names of its parameters in place of their values."""
    route = scope.get("route")
    if route is None:
        return "(none)"
    if isinstance(route, Mount):
        return f"{route.path}/{{path}}"
    path: str = scope["path"] + "/"
    for name, value in reversed(scope.get("path_params", {}).items()):
        for end in "/.":  # as in {index}.png
            before, found, after = path.rpartition(f"/{value}{end}")
            if found:
                path = f"{before}/{{{name}}}{end}{after}"
                break
    return path.removesuffix("/") or "/"


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return str(value.decode())
    return secrets.token_hex(8)


def _log_failure(number: str, error: Exception) -> None:
    # The frames, but not the message: it may hold what was sent or stored.
    frames = [
        f"{frame.filename}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    said = {"id": number, "error": type(error).__name__, "where": frames[-12:]}
    logger.error("failed", extra={"said": said})
