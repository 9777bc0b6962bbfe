"""Routes of the API: strict JSON (RFC 8259), read only from callers who may send it.

Strict means: UTF-8, no duplicate names, no NaN, no endless nesting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.turns import Turns
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.security.authentication import Needs

FILE = {"schema": {"type": "string", "format": "binary"}}
"""An answer that is a file, in the description of the API."""

LARGE = 2**16
"""Bytes of a body that is parsed in a thread: a change of threads takes as long as 10 KB."""


PARSING = Turns("Too many large requests are being read: try again in a moment.", pause=True)


class StrictRequest(Request):
    """A request whose body is parsed strictly."""

    async def json(self) -> Any:
        """The body; a ``JSONDecodeError`` for anything else."""
        if not hasattr(self, "_json"):
            body = await self.body()
            if len(body) <= LARGE:
                self._json = strict_json(body)
            else:  # small requests must not wait for it, nor for several of its kind
                self._json = await run_in_threadpool(_in_turn, body)
        return self._json


class StrictRoute(APIRoute):
    """A route that parses bodies strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The endpoint, with another parser."""
        handler = super().get_route_handler()
        callers = [one.call for one in self.dependant.dependencies if isinstance(one.call, Needs)]

        async def strict(request: Request) -> Response:
            for caller in callers:  # before the body is read: it may be large
                await caller(request)
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


class HeadAsGet:
    """Middleware: answers HEAD as GET would, without the body, wherever there is GET."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on as GET, and end the answer after its headers."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        ended = False

        async def heads(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                await send(message)
            elif not ended:
                ended = True
                await send({"type": "http.response.body", "body": b""})

        async def gone() -> Message:
            # An answer without an end must notice that nobody listens any more.
            return {"type": "http.disconnect"} if ended else await receive()

        # A copy: the server reads the method of its own scope to know that no body follows.
        passed_on = {**scope, "method": "GET"}
        try:
            await self.app(passed_on, gone, heads)
        finally:
            scope.update({**passed_on, "method": "HEAD"})  # the log reads the route


def api_router(tag: str, *statuses: int, prefix: str = "") -> APIRouter:
    """A router with strict routes, whose endpoints may answer with problems of these statuses."""
    declared = problems(401, 403, 409, *statuses)
    return APIRouter(prefix=prefix, route_class=StrictRoute, tags=[tag], responses=declared)


def _in_turn(body: bytes) -> Any:
    with PARSING:
        return strict_json(body)


def strict_json(body: bytes) -> Any:
    """The value of a body, or a ``JSONDecodeError``."""
    try:
        return json.loads(body.decode(), parse_constant=_refuse, object_pairs_hook=_only_once)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        # Not UTF-8, a number of thousands of digits, a name twice, or too many brackets.
        raise json.JSONDecodeError(type(error).__name__, "", 0) from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON.")


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("A name occurs twice.")
    return found
