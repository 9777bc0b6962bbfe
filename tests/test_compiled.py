"""The first call says that it compiles, where somebody can read it."""

from __future__ import annotations

import io
import sys

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
