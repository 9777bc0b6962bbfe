"""Runs that met the same tasks, side by side; and how short runs show themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tellback import Run, compare, play
from tellback.agents import Greedy, Uniform
from tellback.errors import SettingError
from tellback.worlds import Synthetic

WORLD = Synthetic(instructions=5, responses=3, rank=2)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [play(WORLD, agent, 200, seed=1) for agent in (Uniform(), Greedy())]


def test_a_run_may_be_compared_with_itself(runs: list[Run]) -> None:
    assert compare(runs[0], runs[0]).rows()[1][2:] == ("+0 (+0.0%)", "100.0%")


def test_the_table_has_final_regrets_and_the_difference(runs: list[Run]) -> None:
    (_, first, none, _), (_, second, difference, _) = compare(*runs).rows()
    regrets = [float(run.regret[-1]) for run in runs]
    assert [first, second] == [f"{one:.4g}" for one in regrets]
    assert none == ""
    assert difference.startswith(f"{regrets[1] - regrets[0]:+.4g} (-")
    assert "one seed says little" in str(compare(*runs))
    assert "<table>" in compare(*runs)._repr_html_()


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (lambda: play(WORLD, Greedy(), 200, seed=2), "differ in their seed: 1 and 2"),
        (lambda: play(WORLD, Greedy(), 100, seed=1), "number of rounds: 200 and 100"),
        (
            lambda: play(WORLD.with_settings({"rank": 3}), Greedy(), 200, seed=1),
            "differ in their world",
        ),
        (lambda: 7, "Only runs can be compared, not 7"),
    ],
)
def test_runs_with_other_tasks_are_refused(runs: list[Run], other: Any, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        compare(runs[0], other())
    with pytest.raises(SettingError, match="two runs or more"):
        compare(runs[0])


@pytest.mark.parametrize(
    ("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_a_plot_is_written_in_the_format_of_its_name(
    runs: list[Run], suffix: str, begins: bytes, tmp_path: Path
) -> None:
    for plot in (runs[0].plot(), compare(*runs).plot()):
        path = plot.save(tmp_path / f"regret.{suffix}")
        first = path.read_bytes()
        assert first.startswith(begins)
        assert plot.save(path).read_bytes() == first
        assert list(tmp_path.iterdir()) == [path]
        assert plot._repr_png_().startswith(b"\x89PNG")


def test_another_format_is_refused(runs: list[Run], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"\.png, \.svg, \.pdf, not to 'regret\.gif'"):
        runs[0].plot().save(tmp_path / "regret.gif")


def test_a_run_shows_itself_in_a_line(runs: list[Run]) -> None:
    assert len(repr(runs[0])) < 400
    assert f"regret {runs[0].regret[-1]:.4g}" in repr(runs[0])


def test_a_table_becomes_a_pandas_data_frame(runs: list[Run]) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert list(runs[0].table().to_pandas()["regret"]) == list(runs[0].regret)
