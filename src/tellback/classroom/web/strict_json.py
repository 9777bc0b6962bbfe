"""Bodies as RFC 8259 has JSON: UTF-8, no name twice, no NaN, and not too deep to read.

They are read only once it is known that the caller may send them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from tellback.classroom.web.security import Needs


class StrictRequest(Request):
    """A request whose body is read strictly."""

    async def json(self) -> Any:
        """The body; whatever is wrong with it, it is not JSON."""
        if not hasattr(self, "_json"):
            self._json = strict_json(await self.body())
        return self._json


class StrictRoute(APIRoute):
    """A route that reads bodies strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The endpoint, with another reader."""
        handler = super().get_route_handler()
        callers = [one.call for one in self.dependant.dependencies if isinstance(one.call, Needs)]

        async def strict(request: Request) -> Response:
            for caller in callers:  # before a body is read, which may be large
                await caller(request)
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


def strict_json(body: bytes) -> Any:
    """What a body says, or a ``JSONDecodeError``."""
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
        raise ValueError("A name is there twice.")
    return found
