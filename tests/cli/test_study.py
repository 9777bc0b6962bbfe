"""``tellback study`` as a user meets it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars
import pytest
from polars.testing import assert_frame_equal

from tests.support.command import tellback_here

STUDY = """\
title = "Tiny"
rounds = 30
tuning = [10, 11]
reported = "0-2"
everywhere = false

[worlds.small]
kind = "synthetic"
instructions = 20
responses = 5
rank = 3

[agents.LORIL]
kind = "loril"
grid.k = [0.1, 1.0]

[agents.random]
kind = "uniform"
"""
RUNS = 2 * 2 + 3 + 2 + 3  # LORIL: settings by tuning seeds, and the chosen one; random: both


def counts(output: str, study: str) -> tuple[int, ...]:
    """The numbers of runs that status gives for a study: done, planned, failed, damaged."""
    (row,) = (line for line in output.splitlines() if line.startswith(f"│ {study} "))
    return tuple(int(cell) for cell in re.split(r"[│┃]", row)[2:6])


def listed(output: str, what: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith(f"{what}: ")]


def run_files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder / "results" / "runs").rglob("*.*")}


@pytest.fixture
def tiny(finished: Path, tmp_path: Path) -> Path:
    """A folder of the test's own with a study that is done."""
    return shutil.copytree(finished, tmp_path / "tiny")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(STUDY)
    early = [tellback_here("study", *words, cwd=folder) for words in EARLY]
    assert list(folder.iterdir()) == [folder / "tiny.toml"]  # only run leaves anything
    (folder / "early.txt").write_text(
        "\n\0".join(f"{one.returncode}{one.stdout}{one.stderr}" for one in early)
    )
    done = tellback_here("study", "run", "tiny.toml", "--on", "inline", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "run.txt").write_text(done.stdout)
    return folder


EARLY = [("status", "tiny.toml"), ("report", "tiny.toml"), ("export", "tiny.toml", "t.csv")]


def test_before_anything_was_run_status_says_so_and_reports_are_refused(tiny: Path) -> None:
    status, report, export = (tiny / "early.txt").read_text().split("\n\0")
    assert status.startswith("0")
    assert counts(status, "small") == (0, RUNS, 0, 0)
    for refused in (report, export):
        assert refused.startswith("1")
        assert f"'small' is not finished: 0 of {RUNS} runs are done" in refused
        assert "tellback study run" in refused
        assert "Traceback" not in refused


def test_run_compares_and_writes_the_report(tiny: Path) -> None:
    said = (tiny / "run.txt").read_text()
    assert "small: 30 rounds, n = 3" in said
    assert re.search(r"LORIL .*random.*n = 3 paired seeds, tuned on other seeds", said)
    assert "Written: results/studies/tiny/report.html" in said
    folder = tiny / "results" / "studies" / "tiny"
    assert {"report.html", "regret.parquet", "regret.png", "tuning.svg"} <= {
        path.name for path in folder.iterdir()
    }
    assert len([path for path in run_files(tiny) if path.suffix == ".parquet"]) == RUNS


def test_status_counts_and_lists_what_is_done(tiny: Path) -> None:
    status = tellback_here("study", "status", "tiny.toml", "--runs", cwd=tiny)
    assert status.returncode == 0
    assert counts(status.stdout, "small") == (RUNS, RUNS, 0, 0)
    assert f"{30 * RUNS} of {30 * RUNS}" in status.stdout
    done = listed(status.stdout, "done")
    assert len(set(done)) == len(done) == RUNS
    identities = {path.stem[:10] for path in run_files(tiny)}
    assert {line.split()[1] for line in done} == identities
    assert sum("uniform, seed 10" in line for line in done) == 1
    brief = tellback_here("study", "status", "tiny.toml", cwd=tiny)
    assert listed(brief.stdout, "done") == []


def test_report_computes_nothing(tiny: Path) -> None:
    before = run_files(tiny)
    page = tiny / "results" / "studies" / "tiny" / "report.html"
    written = page.read_bytes()
    page.unlink()
    report = tellback_here("study", "report", "tiny.toml", cwd=tiny)
    assert report.returncode == 0, report.stderr
    assert page.read_bytes() == written
    assert run_files(tiny) == before
    assert report.stdout == (tiny / "run.txt").read_text()


def test_export_writes_the_same_as_csv_and_as_parquet(tiny: Path) -> None:
    for words in (["t.csv"], ["t.parquet"], ["f.csv", "--what", "finals"]):
        export = tellback_here("study", "export", "tiny.toml", *words, cwd=tiny)
        assert export.returncode == 0, export.stderr
        assert f"Written: {words[0]}" in export.stdout
    table = polars.read_parquet(tiny / "t.parquet")
    assert_frame_equal(polars.read_csv(tiny / "t.csv", schema=table.schema), table)
    assert_frame_equal(
        polars.read_parquet(tiny / "results" / "studies" / "tiny" / "regret.parquet"), table
    )
    assert table.height == 30 * RUNS
    finals = polars.read_csv(tiny / "f.csv")
    last = table.filter(polars.col("t") == 30).drop("t")
    assert_frame_equal(finals, last.select(finals.columns))


def test_a_damaged_file_is_named_and_computed_again(tiny: Path) -> None:
    path = sorted(path for path in run_files(tiny) if path.suffix == ".parquet")[3]
    sound = path.read_bytes()
    path.write_bytes(sound[: len(sound) // 2])
    name = str(path.relative_to(tiny))
    try:
        status = tellback_here("study", "status", "tiny.toml", cwd=tiny)
        assert status.returncode == 0
        assert listed(status.stdout, "damaged") == [f"damaged: {name}"]
        done, _, failed, damaged = counts(status.stdout, "small")
        assert done < RUNS
        assert (failed, damaged) == (0, 1)
        report = tellback_here("study", "report", "tiny.toml", cwd=tiny)
        assert report.returncode == 1
        assert "is not finished" in report.stderr
        run = tellback_here("study", "run", "tiny.toml", "--on", "inline", cwd=tiny)
        assert run.returncode == 0, run.stderr
        assert f"{name} is damaged and will be played again" in run.stderr
        assert path.read_bytes() == sound
        assert run.stdout == (tiny / "run.txt").read_text()
    finally:
        path.write_bytes(sound)


FAILING = """\
rounds = 20
reported = "0-1"
worlds.small = { kind = "synthetic", instructions = 20, responses = 5, rank = 3 }
agents.good.kind = "uniform"
agents."bad [one]".kind = "mine:Bad"
"""
MODULE = """\
from dataclasses import dataclass
from tellback.agents import Greedy

@dataclass(frozen=True)
class Bad(Greedy):
    def explorer(self, facts):
        {body}
"""


def test_a_run_that_fails_is_shown_and_kept_in_mind_until_its_agent_is_mended(
    tmp_path: Path,
) -> None:
    (tmp_path / "failing.toml").write_text(FAILING)
    (tmp_path / "mine.py").write_text(MODULE.format(body="raise RuntimeError('out of [order]')"))
    words = ["study", "run", "failing.toml", "--on", "inline"]
    run = tellback_here(*words, cwd=tmp_path)
    assert run.returncode == 1
    assert run.stderr.count("Traceback (most recent call last)") == 1
    assert "and 1 more" in run.stderr
    assert "RuntimeError: out of [order]" in run.stderr
    assert "2 runs failed" in run.stderr
    assert not (tmp_path / "results" / "studies").exists()
    status = tellback_here("study", "status", "failing.toml", "--runs", cwd=tmp_path)
    assert status.returncode == 0
    assert counts(status.stdout, "small") == (2, 4, 2, 0)
    failed = listed(status.stdout, "failed")
    assert [line.split(", ")[-1] for line in failed] == [
        f"seed {seed}: RuntimeError: out of [order]" for seed in (0, 1)
    ]
    assert all("uniform" in line for line in listed(status.stdout, "done"))
    (tmp_path / "mine.py").write_text(MODULE.format(body="return super().explorer(facts)"))
    run = tellback_here(*words, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "bad [one]" in run.stdout
    # The agent is another one now: what failed is still known, but no part of this study.
    assert {path.suffix for path in run_files(tmp_path)} == {".parquet", ".json", ".failed"}
    status = tellback_here("study", "status", "failing.toml", cwd=tmp_path)
    assert counts(status.stdout, "small") == (4, 4, 0, 0)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run typo.toml", "typo.toml, line 14: There is no agent 'lorril'. Did you mean 'loril'"),
        ("run nowhere.toml", "nowhere.toml"),
        ("run .", "directory"),
        ("run tiny.toml --on nowhere", "not on 'nowhere'"),
        ("run tiny.toml --workers 0", "workers"),
        ("export tiny.toml t.csv --what curvs", "Did you mean 'curves'"),
        ("export tiny.toml nowhere/t.csv", "There is no folder nowhere"),
    ],
)
def test_a_mistake_of_the_user_ends_with_2(words: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(STUDY)
    (tmp_path / "typo.toml").write_text(STUDY.replace('"loril"', '"lorril"'))
    result = tellback_here("study", *words.split(), cwd=tmp_path)
    assert result.returncode == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.toml", "typo.toml"}
