"""Studies that are killed, or stopped, and run again: the results are those of one never touched.

The reference is computed in this process, one run after the other, and never interrupted.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars
import pytest

from tellback.lab import Results, Store, plan_from_toml, run_studies
from tellback.lab.status import finished, status_of
from tests.support.held_agent import HELD_WHILE
from tests.support.patience import PATIENCE
from tests.support.studies import Idle, Inline

ROOT = Path(__file__).parents[2]
TELLBACK = str(Path(sys.executable).with_name("tellback"))
PLAN = """
rounds = 4000

[worlds.small]
kind = "synthetic"
instructions = 20
responses = 5
rank = 3

[[studies]]
name = "everywhere"
tuning = "100-101"
reported = "0-1"
agents.LORIL = { kind = "loril", grid.k = [0.1, 10.0] }
agents.random = { kind = "uniform" }

[[studies]]
name = "chosen"
everywhere = false
tuning = "102-103"
reported = "0-2"
agents.epsilon-greedy = { kind = "epsilon-greedy", grid.epsilon = [0.05, 0.3, 0.6] }
agents.random = { kind = "uniform" }

[[studies]]
name = "decided"
everywhere = false
tuning = "7"
reported = "0-6"
agents.LORIL = { kind = "loril", grid.k = [0.1, 1.0] }
agents.greedy = { kind = "greedy" }
decide = { between = ["greedy", "LORIL"], at_most = 12, batch = 9 }

[[studies]]
name = "held"
everywhere = false
tuning = "100"
reported = "1"
agents.held = { kind = "tests.support.held_agent:Held", grid.number = [1, 2] }
"""


@dataclass(frozen=True)
class Process:
    """A process in a group of its own."""

    pid: int
    group: int
    args: str


def processes() -> list[Process]:
    """Those that live; not those that only wait to be buried."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,pgid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()]
    return [Process(int(r[0]), int(r[1]), r[-1]) for r in rows if not r[2].startswith("Z")]


def eventually(what: Callable[[], object], why: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.05)


class Running:
    """``tellback study run`` in a process group, with its results in a folder.

    A run of a chosen setting, so one of the later ones, does not end before ``complete`` lets it.
    """

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self.holds = folder / "hold"
        self.holds.touch()
        (folder / "plan.toml").write_text(PLAN)
        self.process = subprocess.Popen(
            [TELLBACK, "study", "run", "plan.toml", "--workers", str(workers)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment() | {HELD_WHILE: str(self.holds)},
            start_new_session=True,
        )

    def group(self) -> list[Process]:
        return [one for one in processes() if one.group == self.process.pid]

    def workers(self) -> list[Process]:
        return [one for one in self.group() if "spawn_main" in one.args]

    def has_kept(self, number: int) -> bool:
        assert self.process.poll() in (None, 0), self.process.communicate()
        return len(files_in(self.folder)) >= number

    def wait_for(self, number: int) -> None:
        eventually(lambda: self.has_kept(number), f"never {number} results")

    def kill(self) -> None:
        """Kill it with all its workers."""
        os.killpg(self.process.pid, signal.SIGKILL)
        assert self.end()[0] == -signal.SIGKILL

    def complete(self, number: int) -> None:
        """Let it finish all runs; then kill it, while it draws its report, if it still does."""
        self.holds.unlink()
        self.wait_for(number)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        assert self.end()[0] in (0, -signal.SIGKILL)

    def end(self) -> tuple[int, str, str]:
        """Its code, and what it said; nothing of it is left."""
        out, err = self.process.communicate(timeout=PATIENCE)
        eventually(lambda: not self.group(), f"left behind: {self.group()}")
        return self.process.returncode, out, err


def environment() -> dict[str, str]:
    """That of this process, in which an agent of the tests can be imported."""
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return os.environ | {"PYTHONPATH": path.rstrip(os.pathsep)}


def files_in(folder: Path) -> list[Path]:
    """The result files; not what was being written when somebody was killed."""
    found = (folder / "results" / "runs").rglob("*.parquet")
    return [path for path in found if not path.name.startswith(".partial-")]


def kept_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files_in(folder)}


def tables(found: list[Results]) -> polars.DataFrame:
    return polars.concat([results.table() for results in found])


@dataclass(frozen=True)
class Reference:
    """What comes of the plan."""

    folder: Path
    results: list[Results]
    kept: dict[str, bytes]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    folder = tmp_path_factory.mktemp("untouched")
    studies = plan_from_toml(PLAN).studies
    results = run_studies(studies, Store(folder / "results" / "runs"), on=Inline())
    assert results[2].study.reported == (*range(7), *range(8, 13))  # seeds were added
    return Reference(folder, results, kept_in(folder))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Begins, or goes on with, the study; in the end nothing of it may live."""
    begun: list[Running] = []

    def another(workers: int = 2) -> Running:
        begun.append(Running(tmp_path, workers))
        return begun[-1]

    yield another
    for one in begun:
        for process in one.group():
            os.kill(process.pid, signal.SIGKILL)
        one.process.communicate()


def demand_same(folder: Path, reference: Reference) -> None:
    """The files and tables are those of the reference, to the byte; nothing is left to do."""
    assert kept_in(folder) == reference.kept
    store = Store(folder / "results" / "runs")
    studies = plan_from_toml(PLAN).studies
    found = run_studies(studies, store, on=Idle())
    assert [one.study for one in found] == [one.study for one in reference.results]
    for name, results in (("here", found), ("there", reference.results)):
        tables(results).write_csv(folder / f"{name}.csv")
        tables(results).write_parquet(folder / f"{name}.parquet")
    for suffix in ("csv", "parquet"):
        pair = [(folder / f"{name}.{suffix}").read_bytes() for name in ("here", "there")]
        assert pair[0] == pair[1]


def test_a_study_killed_again_and_again_gives_the_tables_of_one_never_killed(
    start: Callable[..., Running], reference: Reference, tmp_path: Path
) -> None:
    chance = random.Random(20)
    for share in (0.1, 0.7):
        running = start()
        before = kept_in(tmp_path)
        running.wait_for(int(share * len(reference.kept)))
        time.sleep(chance.uniform(0, 0.1))
        running.kill()
        after = kept_in(tmp_path)
        assert before.items() <= after.items() <= reference.kept.items()
        assert len(after) < len(reference.kept)
    start().complete(len(reference.kept))
    demand_same(tmp_path, reference)
    export = [TELLBACK, "study", "export", "plan.toml", "x.csv"]
    subprocess.run(export, cwd=tmp_path, env=environment(), check=True)
    assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()


def test_workers_end_with_their_parent_and_the_study_goes_on_later(
    start: Callable[..., Running], reference: Reference, tmp_path: Path
) -> None:
    running = start()
    running.wait_for(2)
    assert running.workers()
    os.kill(running.process.pid, signal.SIGKILL)
    assert running.end()[0] == -signal.SIGKILL
    assert kept_in(tmp_path).items() < reference.kept.items()
    engine = Inline()
    there = len(kept_in(tmp_path))
    run_studies(plan_from_toml(PLAN).studies, Store(tmp_path / "results" / "runs"), on=engine)
    assert len(engine.computed) == len(reference.kept) - there
    demand_same(tmp_path, reference)


@pytest.mark.slow
def test_a_study_goes_on_by_itself_when_a_worker_is_killed(
    start: Callable[..., Running], reference: Reference, tmp_path: Path
) -> None:
    running = start(workers=1)
    running.wait_for(2)
    os.kill(running.workers()[0].pid, signal.SIGKILL)
    running.complete(len(reference.kept))
    demand_same(tmp_path, reference)


def test_ctrl_c_keeps_what_is_finished_and_leaves_no_process(
    start: Callable[..., Running], reference: Reference, tmp_path: Path
) -> None:
    running = start()
    running.wait_for(3)
    os.killpg(running.process.pid, signal.SIGINT)  # as a terminal sends it: to all of them
    code, _, err = running.end()
    assert code == 130
    assert "Traceback" not in err
    assert "Stopped. What is finished is kept" in err
    kept = kept_in(tmp_path)
    assert 3 <= len(kept) < len(reference.kept)
    assert kept.items() < reference.kept.items()
    store = Store(tmp_path / "results" / "runs")
    assert not list(store.folder.rglob(".partial-*"))
    assert not list(store.folder.rglob("*.failed"))
    studies = plan_from_toml(PLAN).studies
    done = {run.identity for study in studies for run in status_of(study, store).done}
    assert done <= {name.removesuffix(".parquet") for name in kept}
    run_studies(studies, store, on=Inline())
    demand_same(tmp_path, reference)
    assert [finished(study, store).study for study in studies] == [
        results.study for results in reference.results
    ]


HANGS = """
import time
from dataclasses import dataclass
from pathlib import Path

from tellback.agents import Uniform

@dataclass(frozen=True)
class Hangs(Uniform):
    def build(self, facts, rng):
        agent = super().build(facts, rng)
        if Path("begun").exists():  # in a worker, after the look beforehand
            Path("hangs").touch()
            time.sleep(3600)
        Path("begun").touch()
        return agent
"""


def test_ctrl_c_ends_an_agent_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(HANGS)
    process = subprocess.Popen(
        [TELLBACK, "run", "synthetic", "--agent", "hanging:Hangs", "--rounds", "5", "--seeds", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    eventually((tmp_path / "hangs").exists, "the agent never began")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    # The last of them may still be on its way out.
    group = process.pid
    eventually(lambda: all(one.group != group for one in processes()), "a worker was left")
