"""The first call says that it compiles, where somebody can read it, and the result is kept."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from tellback import compiled


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "notebook", "speaks"),
    [(Terminal(), False, True), (io.StringIO(), True, True), (io.StringIO(), False, False)],
    ids=["terminal", "notebook", "log"],
)
def test_compiling_is_announced_once(
    stream: io.StringIO, notebook: bool, speaks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(compiled, "in_notebook", lambda: notebook)
    monkeypatch.setattr(compiled._Announcement, "said", False)
    for _ in range(2):
        compiled._Announcement().on_start(None)
    assert stream.getvalue().count("Compiling (once: the result is kept)") == int(speaks)


def test_only_the_folders_used_last_are_kept(tmp_path: Path) -> None:
    for age in range(compiled.KEPT + 3):
        (tmp_path / f"kernels-{age}").mkdir()
        os.utime(tmp_path / f"kernels-{age}", (1_000_000 - age, 1_000_000 - age))
    (tmp_path / "other").mkdir()
    compiled._remove_oldest(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"other", *(f"kernels-{age}" for age in range(compiled.KEPT))}
