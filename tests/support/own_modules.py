"""Modules of the user's own, written and imported by a test."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tellback.specs import Spec


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules are imported, and forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    known = dict(Spec._known)
    yield tmp_path
    Spec._known.clear()
    Spec._known.update(known)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def imported(folder: Path, name: str, text: str) -> Any:
    """The module of that name and text."""
    (folder / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module(name)
