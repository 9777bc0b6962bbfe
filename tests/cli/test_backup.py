"""Backups from the command line."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tellback.classroom.store.backup import back_up
from tellback.classroom.store.database import open_database
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


def test_a_backup_makes_no_folder(tmp_path: Path) -> None:
    database = tmp_path / "lessons.db"
    open_database(f"sqlite:///{database}").close()
    words = ("backup", "disk/saved/a.db", "--database", f"sqlite:///{database}")
    done = tellback_here(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "There is no folder disk/saved" in done.stderr
    assert not (tmp_path / "disk").exists()


@pytest.mark.parametrize("broken", ["text", "other", "cut", "torn"])
def test_a_restore_that_fails_leaves_no_database(tmp_path: Path, broken: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    file, database = tmp_path / "saved.db", open_database(f"sqlite:///{tmp_path}/lessons.db")
    back_up(database, file)
    database.close()
    whole = file.read_bytes()
    if broken == "other":
        file.unlink()
        with closing(sqlite3.connect(file)) as other:
            other.execute("CREATE TABLE notes (id)")
    else:
        file.write_bytes({"text": b"no backup", "cut": whole[:5000], "torn": whole[:-4096]}[broken])
    words = ("restore", str(file), "--database", "sqlite:///new/lessons.db")
    done = tellback_here(*words, cwd=here)
    assert done.returncode == 2
    assert "saved.db is " in done.stderr
    assert list(here.iterdir()) == []
