"""Background jobs: one process at a time does them."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from tellback.classroom.learning import background_jobs
from tellback.classroom.learning.background_jobs import BackgroundJobs
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database
from tellback.classroom.store.tables import checkpoints, leases
from tests.support.classroom_lessons import new_lesson, taught


def test_only_the_holder_of_a_lesson_writes_checkpoints_and_the_next_takes_over(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine the first must not lose its lease while it is taught.
    monkeypatch.setattr(background_jobs, "LEASE_SECONDS", 3600.0)
    lesson = new_lesson(database)
    first, second = Learner(database, lesson), Learner(database, lesson)
    jobs = [BackgroundJobs(database, lambda _: first), BackgroundJobs(database, lambda _: second)]
    for one in jobs:
        one.turn()
    taught(database, first, 70)
    for one in jobs[::-1]:
        one.turn()
    with database.read() as connection:
        assert connection.execute(select(checkpoints.c.learned)).scalars().all() == [70]
        holder = connection.execute(select(leases.c.holder)).scalar_one()
    assert holder == jobs[0].holder
    with database.write() as connection:
        connection.execute(update(leases).values(until=0.0))  # the first has died
    taught(database, second, 70, seed=1)
    jobs[1].turn()
    with database.read() as connection:
        assert 140 in connection.execute(select(checkpoints.c.learned)).scalars().all()
