"""Routes of the API: strict JSON, read only from callers who may send it."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.side_process import FOR_REQUESTS
from tellback.classroom.web.idempotency import refuse_key, refuse_two_keys, takes_key
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.problems import invalid
from tellback.classroom.web.security.authentication import Needs
from tellback.classroom.web.strict_json import LARGE, large_json, strict_json

FILE = {"schema": {"type": "string", "format": "binary"}}
"""An answer that is a file, in the description of the API."""


class StrictRequest(Request):
    """A request whose body is parsed strictly."""

    async def json(self) -> Any:
        """The body; a ``JSONDecodeError`` for anything else."""
        if not hasattr(self, "_json"):
            self._json = strict_json(await self.body())
        return self._json

    async def read_large(self, field: Any) -> None:
        """Parse and validate a large body, for a field, while other requests go on."""
        body = await self.body()
        # In any case, as FastAPI reads it: else that would parse what is not read here.
        if len(body) > LARGE and "json" in self.headers.get("content-type", "").lower():
            self._json = await run_in_threadpool(_read_large, body, field)


class StrictRoute(APIRoute):
    """A route that parses bodies strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The endpoint, with another parser."""
        handler = super().get_route_handler()
        keyed = takes_key(self.dependant)
        callers = [one.call for one in self.dependant.dependencies if isinstance(one.call, Needs)]

        async def strict(request: Request) -> Response:
            for caller in callers:  # before the body is read: it may be large
                await caller(request)
            query = request.query_params
            for name in query:
                if len(query.getlist(name)) > 1:  # only the last would count
                    raise invalid(f"query.{name[:100]}", "A parameter must be given once only.")
            refuse_two_keys(request)
            if not keyed:
                refuse_key(request)
            strictly = StrictRequest(request.scope, request.receive)
            if self.body_field is not None:
                await strictly.read_large(self.body_field)
            return await handler(strictly)

        return strict


def _read_large(body: bytes, field: Any) -> Any:
    """The valid body. FastAPI would validate it in the thread that answers all requests."""
    try:
        value = FOR_REQUESTS(large_json, body)
    except json.JSONDecodeError as error:
        found = {"type": "json_invalid", "loc": ("body", error.pos), "ctx": {"error": error.msg}}
        raise RequestValidationError([found]) from error
    found, errors = field.validate(value, {}, loc=("body",))
    if errors:
        raise RequestValidationError(errors)
    return found


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
