"""What tests of the classroom share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from real_parts import Postgres

if TYPE_CHECKING:
    from tellback.classroom.store.database import Database


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
    from tellback.classroom.store.database import opened  # only where tests need it

    found = opened(database_url)
    yield found
    found.close()
