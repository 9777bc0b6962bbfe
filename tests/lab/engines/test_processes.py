"""Worker processes that die, never live, or are to stop: the other runs are done, all end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback.agents import ModelAgent, Uniform
from tellback.lab import Processes, RunsFailedError, RunSpec, Store, Study, run_missing, run_studies
from tellback.lab.engines import processes
from tellback.lab.run_one import Finished
from tellback.lab.status import status_of
from tellback.roles import Facts
from tellback.specs import Spec
from tellback.worlds import Synthetic
from tests.support.patience import PATIENCE
from tests.support.studies import Counting, Inline

WORLD = Synthetic(instructions=20, responses=5, rank=3)


@dataclass(frozen=True)
class Dying(Uniform):
    """Ends the worker that plays it: always, or until a marker is there."""

    marker: str = ""
    how: str = "exit"

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        in_worker = multiprocessing.parent_process() is not None
        if in_worker and not (self.marker and Path(self.marker).exists()):
            if self.marker:
                Path(self.marker).touch()
            if self.how == "exit":
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().build(facts, rng)


@pytest.fixture(autouse=True)
def forget_dying() -> Iterator[None]:
    """Take the test agent out of the list of known ones."""
    yield
    Spec._known.pop(("agent", "dying"), None)


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    assert multiprocessing.active_children() == []
    yield
    assert multiprocessing.active_children() == []


def good_runs(number: int) -> list[RunSpec]:
    return [RunSpec(WORLD, Uniform(), 40, seed) for seed in range(number)]


def contents(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.rglob("*.parquet")}


def test_a_run_whose_worker_dies_once_is_tried_again_and_the_others_are_done(
    tmp_path: Path,
) -> None:
    marker = tmp_path / "died"
    dying = RunSpec(WORLD, Dying(str(marker)), 40, 99)
    good = good_runs(7)
    runs = [*good[:3], dying, *good[3:]]
    store = Store(tmp_path / "runs")
    assert run_missing(runs, store, on=Processes(1)) == []
    assert marker.exists()
    assert all(store.failure(run) is None for run in runs)
    alone = Store(tmp_path / "alone")
    run_missing(runs, alone, on=Inline())
    assert contents(store) == contents(alone)
    assert len(contents(store)) == 8


def test_a_run_whose_worker_always_dies_fails_and_the_others_are_done(tmp_path: Path) -> None:
    deadly = Dying(how="kill")
    study = Study("s", WORLD, {"a": (Uniform(),), "deadly": (deadly,)}, 40, (), (0, 1))
    store = Store(tmp_path / "runs")
    with pytest.raises(RunsFailedError, match="2 runs failed, dying") as caught:
        run_studies([study], store, on=Processes(1))
    failed = [run for run in study.runs() if run.agent == deadly]
    assert {failure.run for failure in caught.value.failures} == set(failed)
    found = status_of(study, store)
    assert set(found.done) == set(study.runs()) - set(failed)
    assert set(found.failed) == set(failed)
    for run in failed:
        assert "process of this run died" in str(store.failure(run))
        assert not store.has(run)
    # In this process it does not die: then nothing says any more that it failed.
    run_studies([study], store, on=Inline())
    assert status_of(study, store).failed == {}
    assert not list(store.folder.rglob("*.failed"))


def test_rounds_are_all_told_of_where_no_worker_died(tmp_path: Path) -> None:
    watcher = Counting()
    runs = [RunSpec(WORLD, Uniform(), rounds, 0) for rounds in (1, 7, 1000, 2500)]
    run_missing(runs, Store(tmp_path), on=Processes(2), listener=watcher)
    assert sum(watcher.rounds) == 1 + 7 + 1000 + 2500


@pytest.mark.parametrize("patience", [60.0, 0.0])
def test_a_result_that_cannot_be_kept_ends_the_study_and_its_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    """They end by themselves, or are killed where they take too long."""
    monkeypatch.setattr(processes, "PATIENCE_SECONDS", patience)
    store = Store(tmp_path)
    kept = store.write

    def full(finished: Finished) -> None:
        if len(contents(store)) == 2:
            raise OSError("the disk is full")
        kept(finished)

    monkeypatch.setattr(store, "write", full)
    runs = [RunSpec(WORLD, Uniform(), 5000, seed) for seed in range(30)]
    with pytest.raises(OSError, match="disk is full"):
        run_missing(runs, store, on=Processes(2))
    assert multiprocessing.active_children() == []
    assert len(contents(store)) == 2
    assert not list(tmp_path.rglob(".partial-*"))


def test_settings_of_the_environment_are_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before: Any = signal.getsignal(signal.SIGINT)
    run_missing(good_runs(1), Store(tmp_path), on=Processes(1))
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


UNGUARDED = """
from pathlib import Path
from tellback.agents import Greedy, Uniform
from tellback.lab import Processes, Store, Study, run_studies
from tellback.worlds import Synthetic

with open("begun", "a") as begun:
    begun.write("x")
world = Synthetic(instructions=20, responses=5, rank=3)
agents = {"greedy": (Greedy(),), "random": (Uniform(),)}
study = Study("s", world, agents, 20, (), tuple(range(20)))
run_studies([study], Store("runs"), on=Processes(2))
"""


def test_a_script_that_its_workers_cannot_import_ends_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("tellback.errors.TellbackError: Worker processes die as soon as they")
    assert 'if __name__ == "__main__":' in last
    assert len((tmp_path / "begun").read_text()) <= 9  # not once for each of the 40 runs
    assert not list((tmp_path / "runs").rglob("*.parquet"))


@dataclass(frozen=True)
class Ending(Uniform):
    """Ends its worker, or what it takes for the program."""

    number: int = 0
    how: str = "exit"

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        if multiprocessing.parent_process() is not None:
            os._exit(1) if self.how == "die" else sys.exit("bye")
        return super().build(facts, rng)


@pytest.mark.parametrize("how", ["die", "exit"])
def test_two_deadly_settings_do_not_keep_the_others_from_being_done(
    how: str, tmp_path: Path
) -> None:
    deadly = [RunSpec(WORLD, Ending(number, how), 20, 0) for number in range(2)]
    store, good = Store(tmp_path), good_runs(2)
    failures = run_missing([*deadly, *good], store, on=Processes(1))
    assert {failure.run for failure in failures} == set(deadly)
    assert all(store.has(run) for run in good)
