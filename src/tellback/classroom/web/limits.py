"""How large a request may be, and how many one caller may send."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellback.classroom.settings import Settings
from tellback.classroom.store.secrets import digest
from tellback.classroom.web.caller_cache import CallerCache
from tellback.classroom.web.credentials import credential_of
from tellback.classroom.web.problem_responses import send_refusal
from tellback.classroom.web.problems import Problem, too_many
from tellback.classroom.web.rate_limiter import RateLimiter, neighbours

IMPORTS = "/import"
"""How the paths end to which a log is sent."""

IMPORTS_LARGER = 10


class RateLimit:
    """So many requests a minute from an account, or from an address that has not signed in.

    What a caller brings counts as an account only after the database confirmed it, so that
    inventing tokens gains nothing.
    """

    def __init__(self, app: ASGIApp, settings: Settings, known: CallerCache) -> None:
        self.app = app
        self._secure = settings.secure
        self._known = known
        self._buckets = RateLimiter(settings.requests_a_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or say when to try again."""
        if scope["type"] == "http":
            wait = self._buckets.wait(self._key(scope))
            if wait:
                await send_refusal(send, too_many(wait))
                return
        await self.app(scope, receive, send)

    def _key(self, scope: Scope) -> tuple[str, str]:
        credential = credential_of(scope, self._secure)
        account = self._known.account(digest(credential.secret)) if credential else None
        return ("account", account) if account else ("address", address_of(scope))


class BodyLimit:
    """Refuses bodies that are too large, by what they say and by what arrives."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._most = settings.largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, as far as it may go."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self._most * (IMPORTS_LARGER if scope["path"].endswith(IMPORTS) else 1)
        if _declared(scope) > most:
            await send_refusal(send, _too_large(most))
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
                return  # what the app makes of a body that was cut off
            started = True
            await send(message)

        try:
            await self.app(scope, counted, noted)
        except _TooLargeError:
            if started:
                raise
        if arrived > most and not started:
            await send_refusal(send, _too_large(most))


class _TooLargeError(Exception):
    pass


def _too_large(most: int) -> Problem:
    return Problem(413, "too_large", f"The body may have at most {most} bytes.")


def address_of(scope: Scope) -> str:
    """Where a request comes from, as far as limits are concerned."""
    client = scope.get("client")
    return neighbours(client[0]) if client else "unknown"


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0
