"""How hypothesis searches, and the real parts that some need."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator

import pytest
from hypothesis import is_hypothesis_test, settings

from tellback.compiled import _cache_folder
from tests.support.classroom_parts import database, database_url  # noqa: F401
from tests.support.real_parts import *  # noqa: F403  (fixtures and hooks, found by their names)
from tests.support.searching import at_length, register

register()

if (folder := _cache_folder()) is not None:  # for processes with another home, too
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder.parent))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what collecting loads, which stays, out of every collection of garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have every search be as long as its profile wants."""
    for item in items:
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            _search_at_length(item)


def _search_at_length(item: pytest.Function) -> None:
    """Give a test more examples, once, however many parameters it has."""
    test = getattr(item.obj, "__func__", item.obj)
    if not hasattr(test, "searches_at_length"):
        rules = test._hypothesis_internal_use_settings or settings()
        test._hypothesis_internal_use_settings = at_length(rules)
        test.searches_at_length = True
