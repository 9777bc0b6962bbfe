"""A cache of callers, so that not every request asks the database.

A session or token that ended in another process is refused here within ``FRESH_SECONDS``; one
that ended in this process, at once.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from tellback.classroom.web.security.callers import Caller

FRESH_SECONDS = 3.0
MOST = 10_000


class _Entry(NamedTuple):
    caller: Caller
    until: float


class CallerCache:
    """Callers by the digests of their credentials."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self.generation = 0  # how often entries were removed; to be read before the database is

    def caller(self, digest: str) -> Caller | None:
        """The caller, if the entry is fresh."""
        entry = self._entries.get(digest)
        return entry.caller if entry and self._clock() < entry.until else None

    def account(self, digest: str) -> str | None:
        """The caller's account, fresh or not: good enough to count requests by."""
        entry = self._entries.get(digest)
        return entry.caller.account if entry else None

    def remember(self, digest: str, caller: Caller, expires: float | None, generation: int) -> None:
        """Add an entry, unless one was removed since the database was read."""
        until = self._clock() + FRESH_SECONDS
        if expires is not None:
            until = min(until, expires)
        with self._lock:
            if generation != self.generation:
                return
            self._entries[digest] = _Entry(caller, until)
            self._entries.move_to_end(digest)
            if len(self._entries) > MOST:
                self._entries.popitem(last=False)

    def forget(self, digest: str) -> None:
        """Remove one entry."""
        with self._lock:
            self.generation += 1
            self._entries.pop(digest, None)

    def forget_account(self, account: str) -> None:
        """Remove all entries of an account."""
        with self._lock:
            self.generation += 1
            for digest in [d for d, e in self._entries.items() if e.caller.account == account]:
                del self._entries[digest]
