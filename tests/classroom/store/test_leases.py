"""Leases on jobs."""

from __future__ import annotations

import time

import pytest

from tellback.classroom.store.database import Database
from tellback.classroom.store.leases import take_lease


def test_a_lease_has_one_holder_until_it_ends(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as connection:
        assert take_lease(connection, "learner", "one", 10)
        assert take_lease(connection, "learner", "one", 10)
        assert not take_lease(connection, "learner", "two", 10)
    later = time.time() + 11
    monkeypatch.setattr(time, "time", lambda: later)
    with database.write() as connection:
        assert take_lease(connection, "learner", "two", 10)
        assert not take_lease(connection, "learner", "one", 10)
