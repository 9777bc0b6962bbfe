"""Fixtures of the classroom's tests, found by their names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tellback.classroom.learning import known
from tellback.classroom.web import classroom
from tests.support.api_room import address, room  # noqa: F401


@pytest.fixture(scope="session", autouse=True)
def known_seeds() -> Iterator[None]:
    """One seed for all lessons: a test must not need luck, nor depend on those before it.

    Which items catch carelessness, and when, depends on a teacher's random id: here, on the turn.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classroom, "secret_seed", lambda: 5)
        patch.setattr(known, "crc32", lambda data: int(data.split()[-1]))
        yield
