"""Studies on a real Ray cluster: a head and a second node, both on this machine."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tellback.lab.engines import ray_cluster
from tests.support.held_agent import HELD_WHILE
from tests.support.patience import PATIENCE

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
ENVIRONMENT = {
    **os.environ,
    "RAY_USAGE_STATS_ENABLED": "0",
    "COLUMNS": "200",
    # Ray forks while gRPC runs threads, and gRPC's own handlers of that crash now and then.
    "GRPC_ENABLE_FORK_SUPPORT": "0",
    # Its own, whatever token or cluster the user of this machine has.
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}
STUDY = """
rounds = {rounds}
reported = "0-{last}"

[worlds.small]
kind = "synthetic"
instructions = 50

[agents]
greedy = {{ kind = "greedy" }}
random = {{ kind = "uniform" }}
{more}
"""
FAILING = """
from dataclasses import dataclass

from tellback.agents import Uniform

@dataclass(frozen=True)
class Failing(Uniform):
    def build(self, facts, rng):
        raise RuntimeError("out of order")
"""


@dataclass(frozen=True)
class Nodes:
    """A running cluster."""

    address: str
    client: str
    second_node: str
    """The name of what the second node alone has, in no other cluster of this machine."""
    hold: Path
    """While this file exists, runs of ``Held`` do not end."""

    def second(self) -> list[int]:
        """The process that stands for the second node, if it lives."""
        found = subprocess.run(
            ["pgrep", "-f", f"raylet.*static_resource_list=.*{self.second_node}"],
            capture_output=True,
            text=True,
            check=False,
        )
        return [int(line) for line in found.stdout.split()]

    def at_work_on_second(self) -> bool:
        """Whether a worker of the second node is computing a run now."""
        for raylet in self.second():
            children = subprocess.run(
                ["ps", "--ppid", str(raylet), "-o", "args="],
                capture_output=True,
                text=True,
                check=False,
            )
            if "ray::run_on_node" in children.stdout:
                return True
        return False


def free_port() -> int:
    # Above the range from which Ray takes ports for workers by default.
    for port in range(20_100 + os.getpid() % 5_000, 32_000):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                return port
    raise AssertionError("no free port")


def ray_start(*words: str, folder: Path) -> None:
    started = subprocess.run(
        [BIN / "ray", "start", "--num-cpus=1", "--disable-usage-stats", *words],
        capture_output=True,
        text=True,
        env={**ENVIRONMENT, "PYTHONPATH": _path(folder), HELD_WHILE: str(folder / "hold")},
        timeout=PATIENCE,
        check=False,
    )
    assert started.returncode == 0, started.stdout + started.stderr


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "failing_agent.py").write_text(FAILING)
    port = free_port()
    client, second = port + 5_001, f"second_node_{secrets.token_hex(8)}"
    # A short path: Ray keeps sockets below it, whose names must not be long.
    place = tempfile.mkdtemp(prefix="ray")
    try:
        ray_start(
            "--head",
            f"--temp-dir={place}",
            "--node-ip-address=127.0.0.1",
            f"--port={port}",
            f"--ray-client-server-port={client}",
            "--include-dashboard=false",
            folder=folder,
        )
        ray_start(f"--address=127.0.0.1:{port}", f'--resources={{"{second}": 1}}', folder=folder)
        yield Nodes(f"127.0.0.1:{port}", f"ray://127.0.0.1:{client}", second, folder / "hold")
    finally:
        # Not "ray stop", which would end every cluster of this machine.
        subprocess.run(["pkill", "-9", "-f", place], check=False)
        shutil.rmtree(place, ignore_errors=True)


def start(
    study: str, folder: Path, on: str, path: Path | None = None, home: Path | None = None
) -> subprocess.Popen[str]:
    """Run a study; with a home of its own, as somebody who knows no token."""
    folder.mkdir(exist_ok=True)
    environment = {**ENVIRONMENT, "PYTHONPATH": _path(path)}
    if home is not None:
        del environment["RAY_AUTH_MODE"], environment["RAY_AUTH_TOKEN"]
        environment["HOME"] = str(home)
    (folder / "study.toml").write_text(study)
    return subprocess.Popen(
        [BIN / "tellback", "study", "run", "study.toml", "--on", on],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
    )


def _path(folder: Path | None) -> str:
    """Where modules are looked for, a folder and those of the tests among it."""
    places = [str(folder or ""), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.pathsep.join(filter(None, places))


def results_of(folder: Path) -> dict[str, bytes]:
    found = (folder / "results").rglob("*.parquet")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_study_survives_the_loss_of_a_node_and_gives_the_results_of_one_machine(
    cluster: Nodes, tmp_path: Path
) -> None:
    held = 'held = { kind = "tests.support.held_agent:Held" }'
    study = STUDY.format(rounds=2000, last=5, more=held)
    here = start(study, tmp_path / "here", "inline")
    _, err = here.communicate(timeout=PATIENCE)
    assert here.returncode == 0, err
    cluster.hold.touch()
    there = start(study, tmp_path / "there", cluster.client)
    deadline = time.monotonic() + PATIENCE
    while not (results_of(tmp_path / "there") and cluster.at_work_on_second()):
        assert time.monotonic() < deadline, "the second node never came to work"
        assert there.poll() is None, there.communicate()
        time.sleep(0.02)
    for raylet in cluster.second():
        os.kill(raylet, signal.SIGKILL)
    cluster.hold.unlink()
    out, err = there.communicate(timeout=PATIENCE)
    assert there.returncode == 0, err
    assert not cluster.second()
    assert "n = 6 paired seeds" in " ".join(out.split())
    assert "18 runs, rounds: 36,000 of 36,000" in err
    assert results_of(tmp_path / "there") == results_of(tmp_path / "here")


@pytest.mark.slow
def test_a_run_that_fails_on_a_cluster_is_reported_and_the_others_are_done(
    cluster: Nodes, tmp_path: Path
) -> None:
    (tmp_path / "failing_agent.py").write_text(FAILING)
    failing = 'broken = { kind = "failing_agent:Failing" }'
    study = STUDY.format(rounds=200, last=1, more=failing)
    process = start(study, tmp_path, cluster.address, tmp_path)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "RuntimeError: out of order" in err
    assert "2 runs failed" in err
    assert len(results_of(tmp_path)) == 4


TYPED = """
import linecache, sys
from tellback.lab import Store, Study, run_studies
from tellback.lab.engines import RayCluster
from tellback.worlds import Synthetic

CELL = '''
from dataclasses import dataclass
from tellback.agents import AgentSpec

def choice():
    return 0

class Fixed:
    def respond(self, task, rng):
        return task.choose(choice())
    def learn(self, task, choice, description):
        pass

@dataclass(frozen=True)
class Typed(AgentSpec):
    def build(self, facts, rng):
        return Fixed()
'''
del sys.modules["__main__"].__file__  # as in a notebook
for number, choice in enumerate("040"):
    text, cell = CELL.replace("return 0", f"return {choice}"), f"<ipython-input-{number}>"
    linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
    exec(compile(text, cell, "exec"), globals())
    study = Study("typed", Synthetic(), {"typed": (Typed(),)}, 30, (), (0,))
    (results,) = run_studies([study], Store("runs"), on=RayCluster(sys.argv[1]))
    print("regret:", *results.finals()["regret"])  # Ray may say something of its own
"""


@pytest.mark.slow
def test_what_is_typed_anew_is_played_anew(cluster: Nodes, tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED)
    done = subprocess.run(
        [sys.executable, "typed.py", cluster.address],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second, third = re.findall(r"^regret: (\S+)$", done.stdout, re.MULTILINE)
    assert first == third != second
    assert len(list((tmp_path / "runs").rglob("*.parquet"))) == 2


def test_a_cluster_is_started_where_there_is_none(tmp_path: Path) -> None:
    study = STUDY.format(rounds=200, last=1, more="")
    home = tmp_path / "home"
    home.mkdir()
    process = start(study, tmp_path, "ray", home=home)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert len(results_of(tmp_path)) == 5  # four runs, and the table of all
    assert not (home / ".ray").exists()  # no secret is left behind


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    process = start(STUDY.format(rounds=200, last=1, more=""), tmp_path, "ray://127.0.0.1:9")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "No Ray cluster at ray://127.0.0.1:9" in err


class Busy:
    """A cluster whose client server does not start in time at first."""

    def __init__(self, failures: int, said: str = ray_cluster.BUSY) -> None:
        self.failures = failures
        self.said = said
        self.attempts = 0

    def init(self) -> None:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise ConnectionAbortedError(f"Initialization failure from server:\n{self.said}")


@pytest.mark.parametrize(
    "said", [ray_cluster.BUSY, "psutil.ZombieProcess: PID still exists but it's a zombie (pid=7)"]
)
def test_a_cluster_that_lets_nobody_join_for_now_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setattr(ray_cluster, "JOINING_SECONDS", (0, 0, 0))
    patient = Busy(2, said)
    ray_cluster._join(patient, {})
    assert patient.attempts == 3
    too_busy = Busy(3, said)
    with pytest.raises(ConnectionError, match=re.escape(said)):
        ray_cluster._join(too_busy, {})


def test_a_cluster_that_refuses_is_not_asked_again() -> None:
    refusing = Busy(1, said="no such token")
    with pytest.raises(ConnectionError, match="no such token"):
        ray_cluster._join(refusing, {})
    assert refusing.attempts == 1
