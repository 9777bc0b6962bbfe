"""The order of the tests, and the real parts that some need."""

from __future__ import annotations

from pathlib import Path

import pytest
from classroom_parts import database, database_url  # noqa: F401
from real_parts import *  # noqa: F403  (fixtures and hooks, found by their names)

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
