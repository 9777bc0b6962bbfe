"""Backups from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import tellback_here


@pytest.mark.parametrize(
    "words",
    [
        ("backup", "saved.db"),
        ("accounts", "list"),
        ("accounts", "token", "ada"),
        ("data", "export", "pictures", "out.jsonl"),
        ("restore", "missing.db"),
    ],
)
def test_a_slip_in_a_path_makes_no_database(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = tellback_here(*words, "--database", "sqlite:///mistyped/lessons.db", cwd=tmp_path)
    assert done.returncode == 2
    assert "There is no" in done.stderr
    assert list(tmp_path.iterdir()) == []
