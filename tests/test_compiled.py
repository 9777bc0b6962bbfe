"""The first call says that it compiles, where somebody can read it, and the result is kept."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback import compiled
from tellback.arrays import Array
from tests.support.first_play import digests
from tests.support.patience import PATIENCE


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


def test_a_short_play_without_compiled_code_is_interpreted_and_gives_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.support.first_play"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert not said.returncode, said.stderr
    interpreted, signatures = said.stdout.splitlines()
    assert signatures == "0"
    monkeypatch.setattr(compiled, "PATIENCE", -1.0)
    assert interpreted.split() == digests()


def test_a_kernel_is_compiled_when_it_was_interpreted_for_long_or_gets_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled, "_cache_folder", lambda: None)
    double: Any = compiled.compiled_lazily(_double)
    monkeypatch.setattr(compiled, "PATIENCE", 1e9)
    with compiled.briefly():
        assert double(np.ones(3)) == 6.0
        assert not double.signatures
        assert double(np.ones(compiled.LARGEST + 1)) == 2.0 * (compiled.LARGEST + 1)
    assert len(double.signatures) == 1
    again: Any = compiled.compiled_lazily(_double)
    monkeypatch.setattr(compiled, "PATIENCE", 0.0)
    with compiled.briefly():
        again(np.ones(3))
        assert not again.signatures
        again(np.ones(3))
    assert len(again.signatures) == 1
    outside: Any = compiled.compiled_lazily(_double)
    outside(np.ones(3))
    assert len(outside.signatures) == 1


def _double(values: Array) -> float:
    total = 0.0
    for n in range(len(values)):
        total += 2.0 * values[n]
    return total


COMPILES = """
import sys
import tellback.compiled
sys.path.insert(0, ".")
from kernels import outer
assert outer(2) == 5
print(len(outer.stats.cache_misses))
"""
KERNELS = """
from tellback.compiled import compiled

@compiled
def inner(x):
    return x * x

@compiled
def outer(x):
    return inner(x) + 1
"""


def test_processes_that_need_a_kernel_at_once_compile_it_once(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", COMPILES],
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        )
        for _ in range(3)
    ]
    said = [process.communicate(timeout=PATIENCE)[0] for process in processes]
    assert sorted(said) == ["0\n", "0\n", "1\n"]


def test_a_kernel_that_cannot_be_compiled_lets_others_go_on(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise OSError("no such type")

    alone = compiled._one_at_a_time(fail, tmp_path / "its.lock")
    for _ in range(2):  # the second would wait for the first forever
        with pytest.raises(OSError, match="no such type"):
            alone(None)
