"""The command line in this process: another one would spend a second on starting."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tellback import cli


def command(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in a folder; returns its exit code."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["tellback", *words.split()])
    monkeypatch.setattr(sys, "path", list(sys.path))
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
