"""Who callers were a moment ago, so that not every request asks the database.

A session or token that ended in another process is refused here within ``FRESH_SECONDS``; one
that ended in this process, at once.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from tellback.classroom.web.callers import Caller

FRESH_SECONDS = 3.0
MOST = 10_000


class Seen(NamedTuple):
    """A caller, and until when that may be believed."""

    caller: Caller
    until: float


class CallerCache:
    """Callers by the digests of what they brought."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._seen: OrderedDict[str, Seen] = OrderedDict()
        self._lock = threading.Lock()
        self._forgotten = 0

    @property
    def forgotten(self) -> int:
        """How often something was forgotten: to be read before the database is."""
        return self._forgotten

    def caller(self, digest: str) -> Caller | None:
        """Who it was, if that is fresh."""
        seen = self._seen.get(digest)
        return seen.caller if seen and self._clock() < seen.until else None

    def account(self, digest: str) -> str | None:
        """Whose it was, fresh or not: good enough to count requests by."""
        seen = self._seen.get(digest)
        return seen.caller.account if seen else None

    def remember(self, digest: str, caller: Caller, expires: float | None, forgotten: int) -> None:
        """Keep it for a moment, unless something was forgotten since the database was read."""
        until = self._clock() + FRESH_SECONDS
        if expires is not None:
            until = min(until, expires)
        with self._lock:
            if forgotten != self._forgotten:
                return
            self._seen[digest] = Seen(caller, until)
            self._seen.move_to_end(digest)
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)

    def forget_this(self, digest: str) -> None:
        """Ask the database again about one."""
        with self._lock:
            self._forgotten += 1
            self._seen.pop(digest, None)

    def forget(self, account: str) -> None:
        """Ask the database again about all that is this account's."""
        with self._lock:
            self._forgotten += 1
            for digest in [d for d, seen in self._seen.items() if seen.caller.account == account]:
                del self._seen[digest]
