"""The order of the tests, how hypothesis searches, and the real parts that some need."""

from __future__ import annotations

from pathlib import Path

import pytest
from classroom_parts import database, database_url  # noqa: F401
from hypothesis import is_hypothesis_test, settings
from real_parts import *  # noqa: F403  (fixtures and hooks, found by their names)
from searching import at_length, register

register()

LONGEST_FIRST = (
    # They walk from reference to reference: the fewer modules are loaded yet, the shorter.
    "test_truth_is_hidden",
    "test_theory_worlds",
    "test_unknown_g",
    "test_images",
    "test_paper_images",
    "test_sentence",
    "test_paper_synthetic",
    "test_killed_studies",
    "test_ray",
    "test_soak",
    "test_first_lesson",
    "test_pages",
    "test_paper_theory",
    "test_docs",
    "test_study_command",
    "test_cli",
    "test_dying_workers",
    "test_report",
    "test_two_phase_study",
)
"""Begun first, so that no worker is left with a long file when the others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first; all others stay in their order."""
    place = {name: i for i, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(Path(item.fspath).stem, len(place)))
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
