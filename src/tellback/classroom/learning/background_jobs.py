"""Background jobs of a lesson. One process at a time does them: the holder of its lease."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from sqlalchemy import insert, select
from sqlalchemy.exc import OperationalError

from tellback.classroom.background_thread import BackgroundThread
from tellback.classroom.learning.checkpoints import keep_checkpoint
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database
from tellback.classroom.store.leases import acquire_lease
from tellback.classroom.store.log import writing
from tellback.classroom.store.tables import lessons, progress

LOGGER = logging.getLogger(__name__)

LEASE_SECONDS = 10.0
LOOK_SECONDS = 0.25
CHECKPOINT_EVERY = 64
"""Descriptions; in long lessons a tenth of them, so that the work stays in proportion."""


class BackgroundJobs:
    """Checkpoints and progress of all lessons, by a thread of this process.

    Parameters
    ----------
    database : Database
        Where the lessons are.
    learner : callable
        The agent of a lesson in this process.
    also : callables
        More to be done at every turn.
    """

    def __init__(
        self,
        database: Database,
        learner: Callable[[str], Learner],
        also: tuple[Callable[[], None], ...] = (),
    ) -> None:
        self.holder = secrets.token_hex(8)
        self._database = database
        self._learner = learner
        self._also = also
        self._seen: dict[str, int] = {}
        self._kept: dict[str, int] = {}
        self._tended: dict[str, tuple[int, int]] = {}
        self.thread = BackgroundThread(
            "background jobs", self.turn, LOOK_SECONDS, (OperationalError,)
        )

    def turn(self) -> None:
        """Do what there is to do now."""
        with self._database.read() as connection:
            latest = connection.execute(select(lessons.c.id, lessons.c.events)).all()
        for lesson, events in latest:
            # Lessons in which nothing happens after this process began are left alone.
            if self._seen.setdefault(lesson, events or -1) == events:
                continue
            try:
                if acquire_lease(
                    self._database, f"learner of {lesson}", self.holder, LEASE_SECONDS
                ):
                    self._tend(self._learner(lesson))
                    self._seen[lesson] = events
            except Exception as error:  # the others need not wait for one that fails
                LOGGER.warning("lesson %s will be tended again: %s", lesson, error)
        for job in self._also:
            job()

    def _tend(self, learner: Learner) -> None:
        learner.catch_up()
        learned, latest = learner.agent.learned, learner.agent.latest
        if self._tended.get(learner.lesson) == (learned, latest):
            return  # a question teaches nothing
        kept = self._kept.setdefault(learner.lesson, 0)
        if learned < kept or learned - kept >= max(CHECKPOINT_EVERY, learned // 10):
            with learner.still() as agent, writing(self._database, learner.lesson) as log:
                kept_now = keep_checkpoint(log, agent)
            if kept_now:
                self._kept[learner.lesson] = learned
        if learner.exam.judged:
            self._note_progress(learner)
        self._tended[learner.lesson] = (learned, latest)

    def _note_progress(self, learner: Learner) -> None:
        seq, learned, right, requests = learner.examined()
        with self._database.write() as connection:
            latest = connection.execute(
                select(progress.c.described, progress.c.right)
                .where(progress.c.lesson == learner.lesson)
                .order_by(progress.c.seq.desc())
                .limit(1)
            ).one_or_none()
            known = connection.execute(
                select(progress.c.seq).where(
                    progress.c.lesson == learner.lesson, progress.c.seq == seq
                )
            ).one_or_none()
            if known is None and (latest is None or tuple(latest) != (learned, right)):
                connection.execute(
                    insert(progress),
                    {
                        "lesson": learner.lesson,
                        "seq": seq,
                        "described": learned,
                        "right": right,
                        "requests": requests,
                    },
                )
