"""Changes of a lesson that come together are committed together.

A lesson has one transaction at a time, and a commit waits for the disk. So changes that come while
another transaction runs wait, and the first of them then writes them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tellback.classroom.store.log import LessonLog
from tellback.errors import TellbackError

MOST = 32
"""Changes of one transaction: others wait for all of them."""


class Change:
    """A change that waits to be written; it returns something, or refuses.

    ``rounds`` is the number of rounds that it opens.
    """

    def __init__(self, write: Callable[[LessonLog], Any], rounds: int = 0) -> None:
        self._write = write
        self.rounds = rounds
        self.ready = threading.Event()  # it is done, or its thread must write
        self.done = False
        self.broke = False  # it failed half-way: the transaction must be rolled back
        self.result: Any = None
        self.error: BaseException | None = None

    def write(self, log: LessonLog) -> None:
        """Write it. A refusal that has written nothing is kept for its own caller."""
        self.broke, self.error = True, None
        before = log.latest, log.rounds
        try:
            self.result = self._write(log)
        except TellbackError as error:
            if (log.latest, log.rounds) != before:
                raise
            self.error = error
        self.broke = False

    @property
    def teaches(self) -> bool:
        """Whether it wrote a description that the agent must learn."""
        return self.error is None and getattr(self.result, "taught", None) is not None

    def outcome(self) -> Any:
        """What it returned; or its error is raised."""
        if self.error is not None:
            raise self.error
        return self.result


class GroupCommit:
    """Passes changes on to ``commit``: those of one thread at a time, with all that wait."""

    def __init__(self, commit: Callable[[list[Change]], None]) -> None:
        self._commit = commit
        self._lock = threading.Lock()
        self._waiting: list[Change] = []
        self._writing = False

    def __call__(self, mine: Change, alone: bool = False) -> Any:
        """Write a change, soon. Returns its result, or raises its error.

        With ``alone``, it waits for no others: for a thread that has locked what ``commit`` needs.
        """
        if alone:
            self._commit([mine])
            return mine.outcome()
        with self._lock:
            self._waiting.append(mine)
            others, self._writing = self._writing, True
        if others:
            mine.ready.wait()
        if not mine.done:
            self._write_waiting()
        return mine.outcome()

    def _write_waiting(self) -> None:
        with self._lock:
            changes, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        self._try(changes)
        with self._lock:
            self._writing = bool(self._waiting)
            following = self._waiting[:1]
        for one in changes:
            one.done = True
            one.ready.set()
        for one in following:  # its thread writes next
            one.ready.set()

    def _try(self, changes: list[Change]) -> None:
        try:
            self._commit(changes)
        except BaseException as error:
            alone = len(changes) > 1 and any(one.broke for one in changes)
            for one in changes:
                if alone:  # nothing was written: each by itself
                    self._try([one])
                else:
                    one.error = error
