"""How many requests and guesses of passwords one caller may send."""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic

from starlette.types import ASGIApp, Receive, Scope, Send

from tellback.classroom.settings import Settings
from tellback.classroom.store.accounts import looked_up
from tellback.classroom.store.database import Database
from tellback.classroom.store.login_attempts import count_attempt
from tellback.classroom.web.problem_handlers import send_problem
from tellback.classroom.web.problems import rate_limited
from tellback.classroom.web.security.caller_cache import CallerCache
from tellback.classroom.web.security.credentials import credential_of

MOST_KEYS = 50_000
REQUEST_BYTES = 2**16
WITHOUT_LENGTH = 50  # as one of 3 MB
LOGINS_FOR_A_NAME = 10
LOGINS_FROM_AN_ADDRESS = 60


class RateLimiter:
    """A token bucket for each key, in this process.

    It lets so many requests pass a minute, and at once after a quiet minute; 0 for any number.
    """

    def __init__(self, a_minute: int, clock: Callable[[], float] | None = None) -> None:
        self._most = float(a_minute)
        self._rate = a_minute / 60
        self._clock = clock or monotonic
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: Hashable, weight: float = 1.0) -> float:
        """0 if the request may pass, and its weight is counted; else the seconds to wait."""
        if not self._rate:
            return 0.0
        now = self._clock()
        with self._lock:
            left, when = self._left.pop(key, (self._most, now))
            left = min(self._most, left + (now - when) * self._rate)
            # A weight above what the bucket holds passes when it is full, and leaves a debt.
            needed = min(weight, self._most)
            wait = 0.0 if left >= needed else (needed - left) / self._rate
            self._left[key] = (left if wait else left - weight, now)
            if len(self._left) > MOST_KEYS:
                self._left.popitem(last=False)  # the least recently used
        return wait


class LoginLimiter:
    """Ten attempts a minute for a name from an address, and sixty from an address for all names.

    They are counted in the database: several processes are no way around it. A name is never locked
    for all addresses: else anybody could lock others out.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def demand(self, name: str, address: str) -> None:
        """Count an attempt; a problem if there were too many."""
        limits = {
            f"address {address}": LOGINS_FROM_AN_ADDRESS,
            f"name {address} {looked_up(name)}": LOGINS_FOR_A_NAME,
        }
        wait = count_attempt(self._database, limits)
        if wait:
            raise rate_limited(wait)


class RateLimit:
    """Middleware: so many requests a minute from an account, or from an address without one.

    A large body counts as several requests, one for each ``REQUEST_BYTES``. A credential counts as
    an account only after the database confirmed it: invented tokens do not
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
            wait = self._limiter.wait(self._key(scope), _weight(scope))
            if wait:
                await send_problem(send, rate_limited(wait))
                return
        await self.app(scope, receive, send)

    def _key(self, scope: Scope) -> tuple[str, str]:
        credential = credential_of(scope, self._secure)
        account = self._caller_cache.account(credential) if credential else None
        return ("account", account) if account else ("address", address_of(scope))


def _weight(scope: Scope) -> float:
    """How many requests one counts as, by the length that it declares."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return 1 + int(value[:20]) // REQUEST_BYTES
        if name == b"transfer-encoding":
            return WITHOUT_LENGTH
    return 1


def address_of(scope: Scope) -> str:
    """The address of the caller, as far as limits are concerned."""
    client = scope.get("client")
    return neighbours(client[0]) if client else "unknown"


def neighbours(address: str) -> str:
    """An IPv4 address, or the /64 network of an IPv6 address: one subscriber has all of it."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
