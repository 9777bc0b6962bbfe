"""Fixtures of the classroom's tests, found by their names."""

from tests.support.api_room import address, room  # noqa: F401
