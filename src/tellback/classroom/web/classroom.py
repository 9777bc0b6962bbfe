"""The classroom of this process: its settings, its database, and the lessons it has open."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from tellback.classroom.background_thread import BackgroundThread
from tellback.classroom.learning.background_jobs import BackgroundJobs
from tellback.classroom.learning.collecting import Collected
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.demonstration import NAMES, PICTURES, demonstration
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.own_lessons import create_own_lesson
from tellback.classroom.learning.recorded import (
    import_recording,
    lesson_id,
    recorded_definition,
)
from tellback.classroom.settings import Settings
from tellback.classroom.store.database import Database, DatabaseFailure, open_database
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.idempotency import delete_old_answers
from tellback.classroom.store.lessons import LessonRow, create_lesson, find_lesson
from tellback.classroom.store.log import writing
from tellback.classroom.store.progress import Reached
from tellback.classroom.web.event_poller import EventPoller
from tellback.classroom.web.schemas.progress import ProgressAnswer
from tellback.classroom.web.webhooks.outbox import Outbox
from tellback.errors import UnknownNameError

TIDY_SECONDS = 3600.0
MOVE_LOG_SECONDS = 2.0
MOST_OPEN = 64
"""Agents in memory; the least recently used is dropped first."""


def secret_seed() -> int:
    """A seed that nobody can guess."""
    return secrets.randbits(48)


class Classroom:
    """The state of the service in this process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database: Database = open_database(settings.database)
        self._learners: OrderedDict[str, Learner] = OrderedDict()
        self.event_poller = EventPoller(self.database)
        self.reports: dict[str, tuple[Reached, ProgressAnswer]] = {}
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._jobs = BackgroundJobs(self.database, self.learner, also=(self._tidy,))
        self._log_mover = BackgroundThread(
            "mover of the write-ahead log",
            self.database.move_log,
            MOVE_LOG_SECONDS,
            (DatabaseFailure,),
        )
        self._tidied = -TIDY_SECONDS
        self.outbox = Outbox(self.database, settings.private_webhooks)

    def open(self) -> None:
        """Start the background threads."""
        self._jobs.thread.start()
        self._log_mover.start()
        self.outbox.thread.start()

    def create(self, name: str, definition: Definition, id: str | None = None) -> LessonRow:
        """Create a lesson."""
        definition.try_out()
        with self.database.write() as connection:
            return create_lesson(connection, name, definition.to_data(), id)

    def demonstrate(self, id: str = PICTURES) -> str:
        """The id of a demonstration lesson, which is created if it is missing."""
        try:
            with self.database.read() as connection:
                find_lesson(connection, id)
        except UnknownNameError:
            with suppress(ConflictError):  # another process was faster
                self.create(NAMES[id], demonstration(id, self.new_seed()), id)
        return id

    def lesson_from(self, path: str | Path, candidates: int, held_out: float) -> str:
        """The id of the lesson of a recording, created and taught by it if it is missing."""
        definition = recorded_definition(path, candidates, held_out)
        id = lesson_id(definition, path)
        with suppress(ConflictError):  # it was created before
            self.create(Path(path).name, definition, id)
        with writing(self.database, id) as log:
            taught = log.rounds > 0
            if not taught:  # all or none of it is imported
                import_recording(log, definition)
        if not taught:
            self.learner(id).keep_checkpoint()
        return id

    def own_lesson(self, name: str, collected: Collected, id: str | None = None) -> LessonRow:
        """Create a lesson of own material; with an ``id``, find it if it was created before."""
        try:
            lesson = create_own_lesson(self.database, name, collected, self.new_seed(), id)
        except ConflictError:
            if id is None:
                raise
            with self.database.read() as connection:
                return find_lesson(connection, id)
        if collected.said:
            self.learner(lesson.id).keep_checkpoint()
        return lesson

    def learner_at_hand(self, lesson: str) -> Learner | None:
        """The agent of a lesson, if this process has it in memory."""
        with self._lock:
            if lesson not in self._learners:
                return None
            self._learners.move_to_end(lesson)
            return self._learners[lesson]

    def learner(self, lesson: str) -> Learner:
        """The agent of a lesson in this process; an error if there is no such lesson."""
        if at_hand := self.learner_at_hand(lesson):
            return at_hand
        with self._lock:
            opening = self._opening.setdefault(lesson, threading.Lock())
        with opening:  # a long log takes a while: other lessons need not wait
            try:
                if at_hand := self.learner_at_hand(lesson):
                    return at_hand
                with self.database.read() as connection:
                    found = find_lesson(connection, lesson)
                learner = Learner(self.database, found)
                with self._lock:
                    self._learners[lesson] = learner
                    while len(self._learners) > MOST_OPEN:
                        self.reports.pop(self._learners.popitem(last=False)[0], None)
                return learner
            finally:
                with self._lock:  # names of missing lessons must not pile up
                    self._opening.pop(lesson, None)

    def new_seed(self) -> int:
        """With accounts, teachers must not be able to compute from it what will be drawn."""
        return secret_seed() if self.settings.accounts else 0

    def _tidy(self) -> None:
        """Once an hour, delete old answers to idempotency keys."""
        if time.monotonic() - self._tidied >= TIDY_SECONDS:
            with self.database.write() as connection:
                delete_old_answers(connection)
            self._tidied = time.monotonic()

    def forget(self, lesson: str) -> None:
        """Drop the agent of a lesson from memory. The next use rebuilds it from the log."""
        with self._lock:
            self._learners.pop(lesson, None)

    def lease_end(self) -> float:
        """When a claim of now ends."""
        return time.time() + self.settings.lease_seconds

    def close(self) -> None:
        """Stop the threads and close the database."""
        self._jobs.thread.stop()
        self._log_mover.stop()
        self.outbox.stop()
        self.database.close()
