"""Turns at work that keeps a processor busy, so that a flood of it leaves the others room."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tellback.errors import TellbackError

Item = TypeVar("Item")

WAIT_SECONDS = 2.0
"""Longest wait for a turn: a waiting request holds a thread that teachers need."""

MOST_WAITING = 8
"""Threads that wait for a turn; a service has 40 for all requests."""

PAUSE = 3
WORK_SECONDS = 0.002


class BusyError(TellbackError):
    """The service is busy."""


class Turns:
    """A context in which so many threads are at a time; others wait a little, or are refused."""

    def __init__(self, refusal: str, at_once: int = 1, wait: float = WAIT_SECONDS) -> None:
        self._refusal = refusal
        self._wait = wait
        self._free = threading.BoundedSemaphore(at_once)
        self._in_line = threading.BoundedSemaphore(MOST_WAITING)

    def __enter__(self) -> None:
        if self._free.acquire(blocking=False):
            return
        if self._in_line.acquire(blocking=False):
            try:
                if self._free.acquire(timeout=self._wait):
                    return
            finally:
                self._in_line.release()
        raise BusyError(self._refusal)

    def __exit__(self, *_: object) -> None:
        self._free.release()


def paced(items: Iterable[Item]) -> Iterator[Item]:
    """Items for work that may take long, with pauses: it takes a quarter of a processor.

    Each time another thread needs the interpreter, work without pauses would keep it waiting.
    """
    begun = time.thread_time()
    for item in items:
        yield item
        worked = time.thread_time() - begun
        if worked >= WORK_SECONDS:
            time.sleep(PAUSE * worked)
            begun = time.thread_time()
