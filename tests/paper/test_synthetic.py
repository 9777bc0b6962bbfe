"""The paper's first experiment from the command line, stopped, killed and taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import polars
import pytest

from tellback.paper import optimiser, synthetic
from tests.support.command import tellback_here
from tests.support.patience import PATIENCE

TELLBACK = str(Path(sys.executable).with_name("tellback"))
WORDS = [TELLBACK, "paper", "synthetic", "--scale", "0.01"]


def start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*WORDS, "--results", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "200"},
    )


def wait_for_results(folder: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(list(folder.rglob("*.parquet"))) < count:
        assert time.monotonic() < deadline, "no results appeared"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    folder = tmp_path_factory.mktemp("undisturbed")
    words = [*WORDS[1:], "--results", str(folder), "--on", "inline"]
    done = tellback_here(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout, done.stderr


def results_of(folder: Path) -> dict[str, bytes]:
    files = [*folder.rglob("*.parquet"), *folder.rglob("*.svg")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_progress_reaches_the_end_also_where_studies_share_runs(
    undisturbed: tuple[Path, str, str],
) -> None:
    _, _, err = undisturbed
    last = [line for line in err.splitlines() if "rounds:" in line][-1]
    done, total = last.split("rounds:")[1].split(" of ")
    assert done.strip() == total.strip()


def test_it_prints_the_claim_beside_what_was_measured(undisturbed: tuple[Path, str, str]) -> None:
    folder, out, _ = undisturbed
    words = " ".join(out.split())
    assert "12.3% less" in words
    for said in ("as printed", "transposed", "ties at random", "ties to the first", "n = 3"):
        assert said in words
    assert "the interval" in (folder / "report.html").read_text()  # a note
    assert any(verdict in words for verdict in ("holds", "does not hold", "undecided"))


def test_it_writes_the_figure_and_the_raw_results(undisturbed: tuple[Path, str, str]) -> None:
    folder, _, _ = undisturbed
    assert (folder / "synthetic" / "regret.png").stat().st_size > 20_000
    table = polars.read_parquet(folder / "synthetic" / "regret.parquet")
    assert set(table["agent"].unique()) == {"LORIL", "greedy", "epsilon-greedy", "random"}
    assert table["study"].n_unique() == 4
    assert not table["regret"].is_nan().any()


@pytest.mark.slow  # test_killed_studies stops and takes up studies, too
def test_a_second_start_goes_on_from_where_the_first_was_stopped(
    undisturbed: tuple[Path, str, str], tmp_path: Path
) -> None:
    process = start(tmp_path)
    wait_for_results(tmp_path, 3)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "kept" in err
    assert "Traceback" not in err
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*.parquet")}
    assert len(kept) >= 3
    again = start(tmp_path)
    _, err = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, err
    # Hidden files are the leftovers of writes that were killed; nothing else may remain.
    finished = {k: v for k, v in results_of(tmp_path).items() if not Path(k).name.startswith(".")}
    assert finished == results_of(undisturbed[0])
    visible = [path for path in kept if not path.name.startswith(".")]
    assert all(path.stat().st_mtime_ns == kept[path] for path in visible)


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    process = start(tmp_path)
    wait_for_results(tmp_path, 1)
    process.kill()
    process.communicate(timeout=PATIENCE)  # returns when nobody holds its output any more
    deadline = time.monotonic() + PATIENCE
    while running_in(process.pid):
        assert time.monotonic() < deadline, "workers outlived their parent"
        time.sleep(0.2)


def running_in(group: int) -> list[str]:
    """The processes of a group that are not mere zombies."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [row[-1] for row in rows if int(row[0]) == group and not row[1].startswith("Z")]


def test_the_grids_are_the_papers() -> None:
    for study in synthetic.studies():
        assert {name: len(grid) for name, grid in study.agents.items()} == {
            "LORIL": 9,
            "epsilon-greedy": 4,
            "greedy": 1,
            "random": 1,
        }
        assert not set(study.tuning) & set(study.reported)


def test_the_papers_optimiser_plays_every_number_of_steps_from_both_starts() -> None:
    full, short = optimiser.studies(full=True), optimiser.studies()
    models: list[Any] = [study.agents["greedy"][0].model for study in full]  # type: ignore[attr-defined]
    assert len(full) == len({study.name for study in full}) == 12
    assert {(one.steps, one.start) for one in models} == set(product((1, 5, 20), (0.0, 1.0)))
    assert {one.learning_rate for one in models} == {0.001}
    assert {study.name for study in short} < {study.name for study in full}
    assert {study.world for study in short} == {synthetic.PRINTED, synthetic.TRANSPOSED}
    for study in full:
        assert {name: len(grid) for name, grid in study.agents.items()} == {
            name: len(grid) for name, grid in synthetic.studies()[0].agents.items()
        }
        assert not set(study.tuning) & set(study.reported)
        assert f"T = {study.rounds:,}" in study.name


def test_its_rows_say_when_greedy_left_the_first_response(
    undisturbed: tuple[Path, str, str],
) -> None:
    folder, out, _ = undisturbed
    words = " ".join(word for word in out.replace("│", " ").split())
    assert "by Adam" in words
    assert (folder / "adam" / "regret.png").stat().st_size > 20_000
    report = (folder / "adam" / "report.html").read_text()
    assert "something else than the first response by round" in report
    assert "in 3 of 3 runs" in report
