"""How large a request may be."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.settings import Settings
from tellback.classroom.web.problem_handlers import send_problem
from tellback.classroom.web.problems import Problem

IMPORT_SUFFIX = "/import"
IMPORT_FACTOR = 10
"""The body of an import may be so many times as large."""

TASK_SUFFIXES = ("/rounds", "/preview")
SMALL = 2**16
"""Bytes of all other bodies: only tasks and imports have large content."""


class BodyLimit:
    """Middleware: refuses large bodies, by their declared length and by the bytes that arrive."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._most = settings.largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on until its body is too large."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self._most_of(scope["path"])
        if _declared(scope) > most:
            await send_problem(send, _too_large(most))
            return
        arrived = 0
        started = False

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            if message["type"] == "http.request":
                arrived += len(message.get("body", b""))
                if arrived > most:
                    raise _TooLargeError
            return message

        async def noted(message: Message) -> None:
            nonlocal started
            if arrived > most and not started:
                return  # the app's answer to a truncated body
            started = True
            await send(message)

        try:
            await self.app(scope, counted, noted)
        except _TooLargeError:
            if started:
                raise
        if arrived > most and not started:
            await send_problem(send, _too_large(most))

    def _most_of(self, path: str) -> int:
        if path.endswith(IMPORT_SUFFIX):
            return self._most * IMPORT_FACTOR
        return self._most if path.endswith(TASK_SUFFIXES) else min(self._most, SMALL)


class _TooLargeError(Exception):
    pass


def _too_large(most: int) -> Problem:
    return Problem(413, "too_large", f"The body may have at most {most} bytes.")


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0
