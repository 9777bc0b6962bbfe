"""``tellback house`` and ``tellback babyai``, with a plan in small houses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import command
from tests.trajectories.test_held_out import tiny


@pytest.mark.parametrize("name", ["house", "babyai"])
def test_a_benchmark_is_run_resumed_and_reported(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"tellback.trajectories.{name}.{name}", tiny)
    words = f"{name} --seeds 0-1 --scale 0.01 --on inline"
    assert command(words, tmp_path, monkeypatch) == 0
    said = capsys.readouterr()
    assert "Bars" in said.out
    assert "Speed" in said.out
    folder = tmp_path / "results/house"
    page = (folder / "report.html").read_text()
    assert "The same request after more and more descriptions" in page
    assert (folder / "film.svg").exists()
    before = {one: one.stat().st_mtime_ns for one in folder.glob("runs/*/*")}
    assert command(f"{words} --json", tmp_path, monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    assert {one: one.stat().st_mtime_ns for one in folder.glob("runs/*/*")} == before
    assert [bar["reached"] for bar in data["bars"]] == [True, False]
    assert data["slope"]["n"] == 2
    assert data["times_fewer"] is not None


@pytest.mark.parametrize(
    ("words", "error"),
    [("--scale 2", "scale must be"), ("--seeds 3", "seeds must be two or more")],
)
def test_mistakes_are_told_in_a_sentence(
    words: str,
    error: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(f"house {words}", tmp_path, monkeypatch) == 2
    assert error in " ".join(capsys.readouterr().err.split())
