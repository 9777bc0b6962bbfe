"""Fixtures of these tests, found by their names."""

from tests.support.own_modules import modules  # noqa: F401
