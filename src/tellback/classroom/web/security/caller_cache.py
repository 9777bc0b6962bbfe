"""A cache of callers, so that not every request asks the database.

A session or token that a process of this service ended is refused by all of them at once. One that
another service on the same database ended, or the command line, is refused within
``FRESH_SECONDS``.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from tellback.classroom.web.security.callers import Caller
from tellback.classroom.web.security.credentials import Credential
from tellback.classroom.web.security.revocations import Revocations

FRESH_SECONDS = 2.0
MOST = 10_000


class _Entry(NamedTuple):
    caller: Caller
    until: float
    generation: bytes


class CallerCache:
    """Callers by their credentials, of which only digests are kept."""

    def __init__(
        self, revocations: Revocations | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._revocations = revocations or Revocations()
        self._clock = clock
        self._entries: OrderedDict[tuple[bool, str], _Entry] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def generation(self) -> bytes:
        """Changes whenever a credential ended; to be read before the database is."""
        return self._revocations.latest

    def caller(self, credential: Credential) -> Caller | None:
        """The caller, if the entry is fresh."""
        entry = self._entries.get(credential.key)
        if entry is None or entry.generation != self.generation or self._clock() >= entry.until:
            return None
        return entry.caller

    def account(self, credential: Credential) -> str | None:
        """The caller's account, fresh or not: good enough to count requests by."""
        entry = self._entries.get(credential.key)
        return entry.caller.account if entry else None

    def remember(
        self, credential: Credential, caller: Caller, expires: float | None, generation: bytes
    ) -> None:
        """Add an entry of a generation."""
        until = self._clock() + FRESH_SECONDS
        if expires is not None:
            until = min(until, expires)
        with self._lock:
            self._entries[credential.key] = _Entry(caller, until, generation)
            self._entries.move_to_end(credential.key)
            if len(self._entries) > MOST:
                self._entries.popitem(last=False)

    def forget(self) -> None:
        """Ask the database again, in all processes: a credential ended."""
        self._revocations.announce()
