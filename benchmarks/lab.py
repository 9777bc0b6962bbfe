"""The cost of the lab: compared with bare play, on two cores, and with very many runs.

``python -m benchmarks.lab --many`` is the last part alone; some 3 minutes.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.flatness import resident
from benchmarks.kept import keep
from benchmarks.speed import bar
from tellback import play
from tellback.agents import LORIL, EpsilonGreedy
from tellback.lab import Listener, Processes, RunSpec, Store, Study, run_missing, run_studies
from tellback.lab.report import write_report
from tellback.lab.run_one import Finished
from tellback.lab.status import finished, status_of
from tellback.worlds import Synthetic

ROUNDS = 90_000  # more than a second
RUNS, REPEATS = 6, 5
EQUAL_RUNS = 16
SHORT_RUNS = 10_000
OVERHEAD_BAR, CORES_BAR, SECONDS_BAR, MEMORY_BAR = 1.05, 1.8, 5.0, 1.1


def lab() -> bool:
    return all([overhead(), two_cores(), many_runs()])


def overhead() -> bool:
    """Warm workers compared with bare play in a process of the same kind, in turns."""
    ratios, seconds = [], []
    for repeat in range(REPEATS):
        bare, stored = bare_seconds(repeat), lab_seconds(repeat)
        seconds.append(bare)
        ratios.append(stored / bare)
    ratio = float(np.median(ratios))
    print(f"A run of {ROUNDS:,} rounds, {np.median(seconds):.2f} s in bare play, one process:")
    print("  the lab over bare play, in turns  " + " ".join(f"{r:.3f}" for r in ratios))
    print(
        f"  median                        {ratio:8.3f}   {bar(ratio <= OVERHEAD_BAR, OVERHEAD_BAR)}"
    )
    return ratio <= OVERHEAD_BAR


def runs_of(repeat: int, count: int = RUNS) -> list[RunSpec]:
    """Runs that differ only in their seeds."""
    seeds = range(repeat * 1000, repeat * 1000 + count)
    return [RunSpec(Synthetic(), LORIL(), ROUNDS, seed) for seed in seeds]


def bare_seconds(repeat: int) -> float:
    """Seconds a run in a new process; the first run is not counted."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        times = [pool.apply(played_at, (run,)) for run in runs_of(repeat, RUNS + 1)]
    return (times[-1] - times[0]) / RUNS


def played_at(run: RunSpec) -> float:
    play(run.world, run.agent, run.rounds, seed=run.seed)
    return time.perf_counter()


def lab_seconds(repeat: int) -> float:
    """Seconds a run with a store; the first run is not counted."""
    with new_store() as store:
        times = []
        for outcome in Processes(1).run_all(runs_of(repeat, RUNS + 1), lambda rounds: None):
            assert isinstance(outcome, Finished)
            store.write(outcome)
            times.append(time.perf_counter())
    return (times[-1] - times[0]) / RUNS


def two_cores() -> bool:
    """A study of equal runs on one core and on two; two bare processes are the upper limit."""
    runs = runs_of(99, EQUAL_RUNS)
    ratios, ceilings = [], []
    for _ in range(3):
        one, two = study_seconds(runs, 1), study_seconds(runs, 2)
        ratios.append(one / two)
        ceilings.append(processes_seconds(1) / processes_seconds(2))
    ratio = float(np.median(ratios))
    print(f"{EQUAL_RUNS} equal runs with a store, from beginning to end:")
    print(f"  two cores over one            {ratio:8.2f}   {bar(ratio >= CORES_BAR, CORES_BAR)}")
    print(
        f"  two bare processes over one   {np.median(ceilings):8.2f}   (what this machine can do)"
    )
    return ratio >= CORES_BAR


def study_seconds(runs: list[RunSpec], workers: int) -> float:
    with new_store() as store:
        began = time.perf_counter()
        assert not run_missing(runs, store, on=Processes(workers))
        return time.perf_counter() - began


def processes_seconds(processes: int) -> float:
    runs = runs_of(98, 8)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(played_at, runs[:processes], chunksize=1)
        began = time.perf_counter()
        pool.map(played_at, runs, chunksize=1)
        return time.perf_counter() - began


def many_runs() -> bool:
    """Ten thousand short runs: memory during them, and the time of status and report."""
    study = Study(
        "many",
        Synthetic(instructions=20, responses=5, rank=3),
        {
            "LORIL": tuple(LORIL(k=k) for k in (0.1, 1.0, 10.0)),
            "epsilon-greedy": (EpsilonGreedy(0.1),),
        },
        rounds=100,
        tuning=tuple(range(10_000, 10_000 + SHORT_RUNS // 8)),
        reported=tuple(range(SHORT_RUNS // 8)),
    )
    memory: list[int] = []

    class Weighing(Listener):
        def played(self, rounds: int) -> None:
            memory.append(resident())

    with new_store() as store:
        began = time.perf_counter()
        (found,) = run_studies([study], store, on=Processes(os.cpu_count()), listener=Weighing())
        took = time.perf_counter() - began
        del found
        # A copy of the study knows no identity yet, as in a new process.
        status_seconds = cpu_seconds_of(lambda: status_of(replace(study), store))
        again, folder = replace(study), store.folder / "report"
        report_seconds = cpu_seconds_of(
            lambda: write_report("many", [finished(again, store)], folder)
        )
        results = finished(study, store)
    tenth = len(memory) // 10
    # The first tenth warms up; after it, memory must not grow with the number of runs.
    grown = max(memory[-tenth:-1]) / max(memory[tenth : 2 * tenth])
    bars = {
        "status, CPU seconds": (status_seconds, SECONDS_BAR),
        "report, CPU seconds": (report_seconds, SECONDS_BAR),
        "memory, last tenth of the runs over the second tenth": (grown, MEMORY_BAR),
    }
    each = took / SHORT_RUNS * 1e3
    print(f"{len(results.runs()):,} runs of 100 rounds, {took:.0f} s, {each:.1f} ms a run:")
    keep("lab", {what: measured for what, (measured, _) in bars.items()}, runs=SHORT_RUNS)
    for what, (measured, at) in bars.items():
        print(f"  {what:<52}{measured:8.2f}   {bar(measured <= at, at)}")
    return all(measured <= at for measured, at in bars.values())


def cpu_seconds_of(work: Callable[[], object]) -> float:
    """CPU seconds, of all threads: other work on the machine matters little."""
    began = time.process_time()
    work()
    return time.process_time() - began


@contextmanager
def new_store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder))


if __name__ == "__main__":
    sys.exit(0 if (many_runs() if "--many" in sys.argv else lab()) else 1)
