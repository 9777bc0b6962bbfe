"""The cost of a round, and memory, over a long run."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.speed import bar
from tellback import play
from tellback.agents import LORIL
from tellback.arrays import Array
from tellback.run import PROGRESS_EVERY
from tellback.worlds import Synthetic

ROUNDS = 200_000
REPEATS = 3
TIME_BAR, MEMORY_BAR = 1.2, 1.05


def flatness() -> bool:
    play(Synthetic(), LORIL(), rounds=100, seed=99)  # compiles, or reads compiled code from disk
    runs = [one_run(seed) for seed in range(REPEATS)]
    # What else runs on the machine only ever adds time: the quick blocks tell the cost.
    costs = np.min([np.quantile(blocks, 0.1, axis=1) for blocks, _ in runs], axis=0)
    memory = runs[0][1]  # in the first run, before a second one finds it warm
    grown = memory[9].max() / memory[:2].max()
    slower = float(costs[9] / costs[1])
    print(f"play(LORIL) for {ROUNDS:,} rounds; us a round in each tenth, quick blocks:")
    print("  " + " ".join(f"{cost:.1f}" for cost in costs))
    print(f"  last tenth over second tenth  {slower:8.2f}   {bar(slower <= TIME_BAR, TIME_BAR)}")
    print(f"  resident memory, the same     {grown:8.2f}   {bar(grown <= MEMORY_BAR, MEMORY_BAR)}")
    print(f"  resident memory at the end    {memory[9, -1] / 2**20:8.0f} MiB")
    return bool(slower <= TIME_BAR and grown <= MEMORY_BAR)


def one_run(seed: int) -> tuple[Array, Array]:
    """Microseconds a round and resident bytes of each block of rounds, a row a tenth."""
    times, memory = [time.perf_counter()], []

    done = 0

    def note(rounds: int) -> None:
        nonlocal done
        done += rounds
        if not done % PROGRESS_EVERY:  # what comes in between is a machine that stood still
            times.append(time.perf_counter())
            memory.append(resident())

    world = Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75)
    play(world, LORIL(k=0.1, lam=1.0), ROUNDS, seed=seed, progress=note)
    costs = np.diff(times) / PROGRESS_EVERY * 1e6
    return costs.reshape(10, -1), np.array(memory, dtype=float).reshape(10, -1)


def resident() -> int:
    """Bytes of this process that are in memory (Linux)."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024
