"""The command line in this process: another one would spend a second on starting."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from tellback import cli
from tellback.specs import Spec

WIDE = {"COLUMNS": "250"}  # so that no line is broken


def command(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in a folder; returns its exit code."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["tellback", *words.split()])
    monkeypatch.setattr(sys, "path", list(sys.path))
    return _exit_code()


def tellback_here(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; returns what a process would have said."""
    out, err = StringIO(), StringIO()
    with (
        chdir(cwd),
        patch.object(sys, "argv", ["tellback", *words]),
        patch.object(sys, "path", list(sys.path)),
        patch.dict(os.environ, WIDE),
        _forgetting_modules_in(cwd),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = _exit_code()
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def _exit_code() -> int:
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@contextmanager
def _forgetting_modules_in(folder: Path) -> Iterator[None]:
    """Forget modules of the folder, and their kinds: another test has others of the same name."""
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        for kind, spec in list(Spec._known.items()):
            if spec.__module__ not in sys.modules:
                del Spec._known[kind]
