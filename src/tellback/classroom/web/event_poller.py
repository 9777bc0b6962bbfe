"""The latest event of lessons, looked up once for all callers who wait for updates."""

from __future__ import annotations

import asyncio
import time

from starlette.concurrency import run_in_threadpool

from tellback.classroom.store.database import Database
from tellback.classroom.store.progress import Reached, find_reached

FRESH_SECONDS = 0.4


class EventPoller:
    """The latest event of lessons.

    However many callers wait for a lesson, it is looked up at most every 0.4 seconds.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache: dict[str, tuple[float, asyncio.Future[Reached]]] = {}

    async def of(self, lesson: str) -> Reached:
        """The latest events of a lesson, at most 0.4 seconds old."""
        at, found = self._cache.get(lesson, (0.0, None))
        if found is None or time.monotonic() - at > FRESH_SECONDS or _failed(found):
            found = asyncio.ensure_future(run_in_threadpool(self.now, lesson))
            self._forget_old()
            self._cache[lesson] = time.monotonic(), found
        # A caller that disconnects must not cancel it for the others.
        return await asyncio.shield(found)

    def now(self, lesson: str) -> Reached:
        """The same, looked up now."""
        with self._database.read() as connection:
            return find_reached(connection, lesson)

    def _forget_old(self) -> None:
        now = time.monotonic()
        self._cache = {
            lesson: (at, found)
            for lesson, (at, found) in self._cache.items()
            if now - at <= FRESH_SECONDS
        }


def _failed(found: asyncio.Future[Reached]) -> bool:
    return found.done() and (found.cancelled() or found.exception() is not None)
