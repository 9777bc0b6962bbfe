"""Fixtures that several files of this folder use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def torch() -> Iterator[Any]:
    """PyTorch on one thread: the oracles are too small for more."""
    pytest.importorskip("safetensors")
    library = pytest.importorskip("torch")
    before = library.get_num_threads()
    library.set_num_threads(1)
    yield library
    library.set_num_threads(before)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: Any) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path
