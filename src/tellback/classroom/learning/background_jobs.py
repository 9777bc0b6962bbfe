"""Background jobs of a lesson. One process at a time does them: the holder of its lease."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from tellback.classroom.background_thread import BackgroundThread
from tellback.classroom.learning.early_curve import early_points
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database, DatabaseFailure
from tellback.classroom.store.leases import acquire_lease
from tellback.classroom.store.lessons import latest_events
from tellback.classroom.store.progress import CurvePoint, add_point, curve

LOGGER = logging.getLogger(__name__)

LEASE_SECONDS = 10.0
LOOK_SECONDS = 0.25
CHECKPOINT_EVERY = 64
"""Descriptions between two checkpoints; in long lessons a tenth of all descriptions."""


class BackgroundJobs:
    """Checkpoints and progress of all lessons, by a thread of this process.

    ``learner`` finds the agent of a lesson. The jobs ``also`` are done at every turn.
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
        self._done: dict[str, tuple[int, int]] = {}
        self.thread = BackgroundThread(
            "background jobs", self.turn, LOOK_SECONDS, (DatabaseFailure,)
        )

    def turn(self) -> None:
        """Do the jobs of all lessons that changed."""
        with self._database.read() as connection:
            latest = latest_events(connection)
        for lesson, events in latest.items():
            # Skip lessons without events since this process started.
            if self._seen.setdefault(lesson, events or -1) == events:
                continue
            try:
                if acquire_lease(
                    self._database, f"learner of {lesson}", self.holder, LEASE_SECONDS
                ):
                    self._do_jobs(self._learner(lesson))
                    self._seen[lesson] = events
            except Exception as error:  # the other lessons go on
                LOGGER.warning("the jobs of lesson %s will be tried again: %s", lesson, error)
        for job in self._also:
            job()

    def _do_jobs(self, learner: Learner) -> None:
        learner.catch_up()
        learned, latest = learner.agent.learned, learner.agent.latest
        if self._done.get(learner.lesson) == (learned, latest):
            return  # new requests teach nothing
        kept = self._kept.setdefault(learner.lesson, 0)
        due = learned < kept or learned - kept >= max(CHECKPOINT_EVERY, learned // 10)
        if due and learner.keep_checkpoint():
            self._kept[learner.lesson] = learned
        if learner.exam.judged:
            points = self._new_points(learner)
            with self._database.write() as connection:
                for seq, point in points:
                    add_point(connection, learner.lesson, seq, point)
        self._done[learner.lesson] = (learned, latest)

    def _new_points(self, learner: Learner) -> list[tuple[int, CurvePoint]]:
        """The points of the curve that are to be added, each with its event."""
        seq, point = learner.examined()
        if not point.requests:
            return []
        with self._database.read() as connection:
            begins = learner.examination.held_out is not None and not curve(
                connection, learner.lesson
            )
            return [*(early_points(learner, connection) if begins else ()), (seq, point)]
