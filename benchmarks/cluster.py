"""The same study on one machine and on Ray with two nodes on this machine: overhead a run.

    python -m benchmarks.cluster     # some 3 minutes

A run's overhead is what many short runs take beyond their own time. From the measured parts
follows, on paper, how many cores one store and one scheduler can keep busy.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.kept import keep
from tellback.agents import EpsilonGreedy
from tellback.lab import Processes, RayCluster, RunSpec, Store, run_missing
from tellback.lab.engines.engine import Engine
from tellback.lab.run_one import Finished, job_of, run_one
from tellback.worlds import Synthetic

RUNS, ROUNDS, CORES = 400, 100, 1000
WORLD = Synthetic(instructions=20, responses=5, rank=3)
HOUR = 3600.0


def runs(first: int, count: int) -> list[RunSpec]:
    """Short runs that differ only in their seeds."""
    return [
        RunSpec(WORLD, EpsilonGreedy(0.1), ROUNDS, seed) for seed in range(first, first + count)
    ]


def seconds(engine: Engine) -> float:
    """Seconds for all runs and their store, without the start of the workers."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        assert not run_missing(runs(0, 4), store, on=engine)
        began = time.perf_counter()
        assert not run_missing(runs(10, RUNS), store, on=engine)
        return time.perf_counter() - began


def alone() -> tuple[float, float]:
    """Seconds of a run itself, and of writing its result."""
    with tempfile.TemporaryDirectory() as folder:
        store, written = Store(Path(folder)), 0.0
        run_one(job_of(runs(0, 1)[0]))
        began = time.perf_counter()
        for run in runs(10, RUNS):
            finished = run_one(job_of(run))
            assert isinstance(finished, Finished)
            writing = time.perf_counter()
            store.write(finished)
            written += time.perf_counter() - writing
        return (time.perf_counter() - began - written) / RUNS, written / RUNS


def cluster() -> bool:
    """Print and keep what a run costs on each engine, and what follows for many cores."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    played, written = alone()
    here = seconds(Processes(2))
    nodes: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes.add_node(num_cpus=1)
        there = seconds(RayCluster(nodes.address))
    finally:
        nodes.shutdown()
    found = {
        "run itself ms": 1e3 * played,
        "store ms": 1e3 * written,
        "two processes, a run ms": 1e3 * here / RUNS,
        "two Ray nodes, a run ms": 1e3 * there / RUNS,
        "Ray's overhead a run ms": 1e3 * (there - here) / RUNS,
        # One driver schedules and stores each run: cores beyond this wait for it.
        f"shortest run that keeps {CORES} cores busy s": CORES * there / RUNS,
        # At the end the last run of some core is waited for: half a run in the mean, at most one.
        "one-minute runs for an hour, share that a core waits at the end, at most": 60 / HOUR,
    }
    for what, figure in found.items():
        print(f"  {what:<72}{figure:9.3f}")
    keep("cluster", found)
    return True


if __name__ == "__main__":
    sys.exit(0 if cluster() else 1)
