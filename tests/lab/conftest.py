"""A store that the tests of stored runs begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellback.lab import Store, run_missing
from tests.support.small_study import RUN
from tests.support.studies import Inline


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that has the run."""
    store = Store(tmp_path / "runs")
    assert run_missing([RUN], store, on=Inline()) == []
    return store
