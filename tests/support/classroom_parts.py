"""What tests of the classroom share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.real_parts import Postgres

if TYPE_CHECKING:
    from tellback.classroom.store.database import Database
    from tellback.classroom.store.log import Event


def active_after(happened: Iterable[Event]) -> dict[int, int]:
    """The oracle: which descriptions are active after these events, in the order they were given.

    It remembers what was active after every event, and goes back to that.
    """
    after: list[dict[int, int]] = [{}]
    for event in happened:
        after += after[-1:] * (event.seq - len(after))
        now = after[-1]
        if event.kind == "rolled_back":
            now = after[event.data["to"]]
        elif event.kind in ("described", "withdrawn"):
            assert event.round is not None
            now = {round: seq for round, seq in now.items() if round != event.round}
            if event.kind == "described" and not event.redacted:
                now[event.round] = event.seq
        after.append(now)
    return after[-1]


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of its own: a file, and one of a real PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'classroom.db'}"
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.create_database()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The same, opened."""
    from tellback.classroom.store.database import open_database  # only where tests need it

    found = open_database(database_url)
    yield found
    found.close()
