"""Turns at work that keeps a processor busy, so that a flood of it leaves the others room."""

from __future__ import annotations

import threading

from tellback.errors import TellbackError

AT_ONCE = 2
WAIT_SECONDS = 2.0
"""Longest wait for a turn: a waiting request holds a thread that teachers need."""


class BusyError(TellbackError):
    """The service is busy."""


class Turns:
    """A context in which so many threads are at a time; others wait a little, or are refused."""

    def __init__(self, refusal: str, at_once: int = AT_ONCE, wait: float = WAIT_SECONDS) -> None:
        self._refusal = refusal
        self._wait = wait
        self._free = threading.BoundedSemaphore(at_once)

    def __enter__(self) -> None:
        if not self._free.acquire(timeout=self._wait):
            raise BusyError(self._refusal)

    def __exit__(self, *_: object) -> None:
        self._free.release()
