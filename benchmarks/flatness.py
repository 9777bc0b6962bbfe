"""The cost of a round, and memory, over a long run."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.speed import bar
from tellback import play
from tellback.agents import LORIL
from tellback.run import PROGRESS_EVERY
from tellback.worlds import Synthetic

ROUNDS = 200_000
TIME_BAR, MEMORY_BAR = 1.2, 1.05


def flatness() -> bool:
    world = Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75)
    play(world, LORIL(), rounds=100, seed=99)
    times: list[float] = []
    memory: list[int] = []

    def note(_: int) -> None:
        times.append(time.perf_counter())
        memory.append(resident())

    times.append(time.perf_counter())
    memory.append(resident())
    play(world, LORIL(k=0.1, lam=1.0), ROUNDS, seed=0, progress=note)
    tenths = np.array_split(np.diff(times) / PROGRESS_EVERY * 1e6, 10)
    # What else runs on the machine only ever adds time: the quick blocks tell the cost.
    costs = [float(np.quantile(tenth, 0.1)) for tenth in tenths]
    grown = max(memory[len(memory) * 9 // 10 :]) / max(memory[: len(memory) * 2 // 10])
    print(f"play(LORIL) for {ROUNDS:,} rounds; us a round in each tenth, quick blocks:")
    print("  " + " ".join(f"{cost:.1f}" for cost in costs))
    slower = costs[9] / costs[1]
    print(f"  last tenth over second tenth  {slower:8.2f}   {bar(slower <= TIME_BAR, TIME_BAR)}")
    print(f"  resident memory, the same     {grown:8.2f}   {bar(grown <= MEMORY_BAR, MEMORY_BAR)}")
    print(f"  resident memory at the end    {memory[-1] / 2**20:8.0f} MiB")
    return slower <= TIME_BAR and grown <= MEMORY_BAR


def resident() -> int:
    """Bytes of this process that are in memory."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024
