"""Turns at work that keeps a processor busy, so that a flood of it leaves the others room."""

from __future__ import annotations

import threading
import time

from tellback.errors import TellbackError

WAIT_SECONDS = 2.0
"""Longest wait for a turn: a waiting request holds a thread that teachers need."""

PAUSE = 3
LONGEST_PAUSE = 1.0


class BusyError(TellbackError):
    """The service is busy."""


class Turns:
    """A context in which so many threads are at a time; others wait a little, or are refused.

    With ``pause``, the next turn begins after a pause three times as long as the last one: then
    work without an end takes a quarter of a processor.
    """

    def __init__(
        self, refusal: str, at_once: int = 1, wait: float = WAIT_SECONDS, pause: bool = False
    ) -> None:
        self._refusal = refusal
        self._wait = wait
        self._free = threading.BoundedSemaphore(at_once)
        self._pause = pause
        self._begun = self._next = 0.0

    def __enter__(self) -> None:
        if not self._free.acquire(timeout=self._wait):
            raise BusyError(self._refusal)
        if self._pause:
            time.sleep(max(0.0, self._next - time.monotonic()))
            self._begun = time.monotonic()

    def __exit__(self, *_: object) -> None:
        if self._pause:
            now = time.monotonic()
            self._next = now + min(PAUSE * (now - self._begun), LONGEST_PAUSE)
        self._free.release()
