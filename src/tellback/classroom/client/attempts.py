"""Attempts at a request, which is sent again only if that does no harm."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tellback.classroom.client.errors import ProblemError, UnreachableError, accepted
from tellback.classroom.client.operations import Call
from tellback.errors import TellbackError

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

TRIES = 6
RETRIED = (429, 502, 503, 504)
"""Statuses after which the same request may succeed."""

REFUSED = "application/problem+json"
"""The service has done nothing if it says so itself. A proxy may have lost its answer."""

GONE = ("not_found", "not_known")
LONGEST_WAIT = 30.0


class Attempts(Generic[T]):
    """The attempts at one request; ``library`` is ``httpx``, which is imported only when used."""

    def __init__(self, library: Any, call: Call[T], tries: int) -> None:
        self._httpx = library
        self._call = call
        self._tries = tries
        self._failed = 0
        self._maybe_done = False

    def wait_after_error(self, error: httpx.TransportError) -> float:
        """Seconds until the next attempt; an error if there should be none."""
        call = self._call
        if isinstance(error, self._httpx.LocalProtocolError | self._httpx.UnsupportedProtocol):
            raise TellbackError(f"{call.method} {call.path} cannot be sent: {error}") from error
        says = f"{type(error).__name__}: {error}"
        not_sent = (self._httpx.ConnectError, self._httpx.ConnectTimeout, self._httpx.PoolTimeout)
        if not isinstance(error, not_sent):
            self._maybe_done = True
            if not call.repeatable:
                raise UnreachableError(
                    f"The answer to {call.method} {call.path} was lost ({says}). The service may "
                    f"have done it: look before you send it again."
                ) from error
        wait = self._wait(None)
        if wait is None:
            url = error.request.url
            raise UnreachableError(
                f"{url.scheme}://{url.netloc.decode()} does not answer: {says}"
            ) from error
        return wait

    def wait_after(self, answer: httpx.Response) -> float | None:
        """Seconds until the next attempt; None if this answer is to be read."""
        if answer.status_code not in RETRIED:
            return None
        if not answer.headers.get("Content-Type", "").startswith(REFUSED):
            self._maybe_done = True
            if not self._call.repeatable:
                return None
        return self._wait(answer.headers.get("Retry-After"))

    def read(self, answer: httpx.Response) -> T:
        """What the answer says; a ``ProblemError`` if the request was refused."""
        try:
            accepted(answer)
        except ProblemError as problem:
            # The first attempt deleted it, and its answer was lost.
            if not (self._call.deletes and self._maybe_done and problem.code in GONE):
                raise
        return self._call.read(answer)

    def _wait(self, retry_after: str | None) -> float | None:
        """As long as the service asks, or longer and longer; None after the last attempt."""
        self._failed += 1
        if self._failed >= self._tries:
            return None
        if retry_after is not None and retry_after.isdecimal():
            return min(float(retry_after), LONGEST_WAIT)
        return float(min(0.1 * 2.0 ** (self._failed - 1), LONGEST_WAIT) * random.uniform(0.5, 1.0))
