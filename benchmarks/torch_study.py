"""The paper's whole first experiment, against a plain PyTorch loop.

    python -m benchmarks.torch_study     # some 2 minutes of CPU

tellback: three seeds of each world and agent, as a study plays them, times the number of runs.
PyTorch: one run of LORIL and one of the greedy agent in each world, whole, times the number of
runs of LORIL and of the other agents that learn; nothing is counted for random play. Both are CPU
time of one thread. So both totals are extrapolated. The loop stores nothing, so the bar is for
runs that are not stored; the ratio for stored ones is beside it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.kept import keep
from benchmarks.speed import COUNTS, LISTS, bar
from tellback.agents import LORIL, Uniform
from tellback.lab import RunSpec, Store
from tellback.lab.run_one import Finished, run_one
from tellback.paper.synthetic import studies
from tellback.roles import AgentSpec, WorldSpec
from tellback.streams import Streams

BAR = 500.0
REPEATS = 3
Cell = tuple[WorldSpec, AgentSpec, int]


def planned() -> Counter[Cell]:
    """How many runs there are of each world, agent and length."""
    runs = dict.fromkeys(run for study in studies() for run in study.runs())
    assert all(study.needs_no_choice for study in studies())
    return Counter((run.world, run.agent, run.rounds) for run in runs)


def ours(cells: Counter[Cell]) -> tuple[float, float]:
    """CPU seconds of all runs with tellback, and with storing them, from the mean of some seeds."""
    alone = stored = 0.0
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for seed in range(REPEATS + 1):  # seed by seed, as a study plays them; the first compiles
            for (world, agent, rounds), count in cells.items():
                run = RunSpec(world, agent, rounds, seed)
                times = [time.process_time()]
                run.perform()
                times.append(time.process_time())
                outcome = run_one(run)
                assert isinstance(outcome, Finished)
                store.write(outcome)
                times.append(time.process_time())
                if seed:
                    alone += count / REPEATS * (times[1] - times[0])
                    stored += count / REPEATS * (times[2] - times[1])
    return alone, stored


def theirs(cells: Counter[Cell], history: str) -> float:
    """CPU seconds of all runs in PyTorch, from two runs a world."""
    total, known = 0.0, dict[tuple[WorldSpec, bool], float]()
    for (world, agent, rounds), count in cells.items():
        kind = world, isinstance(agent, LORIL)
        if isinstance(agent, Uniform):
            continue
        if kind not in known:
            known[kind] = in_torch(world, rounds, 0.1 if kind[1] else None, history)
        total += count * known[kind]
    return total


def in_torch(world: WorldSpec, rounds: int, k: float | None, history: str) -> float:
    """CPU seconds of one run."""
    import torch

    from benchmarks.torch_loril import torch_loril

    torch.set_num_threads(1)
    simulation: Any = world.build(Streams(0).init("world"))
    f, g = simulation.truth.f, simulation.world.listed[0].matrix
    torch_loril(f, g, 20, k, 1.0, 0, history)  # warms up
    began = time.process_time()
    torch_loril(f, g, rounds, k, 1.0, 0, history)
    return time.process_time() - began


def torch_study() -> bool:
    cells = planned()
    before = ours(cells)
    lists, counts = theirs(cells, LISTS), theirs(cells, COUNTS)
    after = ours(cells)  # a machine that slows down slows both sides
    alone, stored = ((one + other) / 2 for one, other in zip(before, after, strict=True))
    measured = {
        "runs": float(sum(cells.values())),
        "tellback, CPU seconds": alone,
        "tellback, with checks and storing, CPU seconds": stored,
        "PyTorch, full history in lists, CPU hours": lists / 3600,
        "PyTorch, history as counts, CPU hours": counts / 3600,
        "PyTorch with lists over tellback": lists / alone,
        "PyTorch with lists over tellback with checks and storing": lists / stored,
        "PyTorch with counts over tellback": counts / alone,
    }
    print("The paper's first experiment, all runs, extrapolated from one run of each kind:")
    for what, value in measured.items():
        print(f"  {what:<56}{value:10.4g}")
    print(f"  {bar(lists / alone >= BAR, BAR)}")
    keep("torch_study", measured, torch=_version())
    return lists / alone >= BAR


def _version() -> str:
    import torch

    return str(torch.__version__)


if __name__ == "__main__":
    sys.exit(0 if torch_study() else 1)
