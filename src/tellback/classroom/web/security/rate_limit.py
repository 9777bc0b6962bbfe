"""How many requests one caller may send."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from tellback.classroom.settings import Settings
from tellback.classroom.store.secrets import digest
from tellback.classroom.web.problem_handlers import send_problem
from tellback.classroom.web.problems import rate_limited
from tellback.classroom.web.security.caller_cache import CallerCache
from tellback.classroom.web.security.credentials import credential_of
from tellback.classroom.web.security.rate_limiter import RateLimiter, neighbours


class RateLimit:
    """Middleware: so many requests a minute from an account, or from an address without one.

    A credential counts as an account only after the database confirmed it: invented tokens do not
    raise the limit.
    """

    def __init__(self, app: ASGIApp, settings: Settings, caller_cache: CallerCache) -> None:
        self.app = app
        self._secure = settings.secure
        self._caller_cache = caller_cache
        self._limiter = RateLimiter(settings.requests_a_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or say when to try again."""
        if scope["type"] == "http":
            wait = self._limiter.wait(self._key(scope))
            if wait:
                await send_problem(send, rate_limited(wait))
                return
        await self.app(scope, receive, send)

    def _key(self, scope: Scope) -> tuple[str, str]:
        credential = credential_of(scope, self._secure)
        account = self._caller_cache.account(digest(credential.secret)) if credential else None
        return ("account", account) if account else ("address", address_of(scope))


def address_of(scope: Scope) -> str:
    """The address of the caller, as far as limits are concerned."""
    client = scope.get("client")
    return neighbours(client[0]) if client else "unknown"
