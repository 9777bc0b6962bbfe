"""Rounds a second of ``play`` against LORIL written in PyTorch."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from benchmarks.torch_loril import torch_loril
from tellback import play
from tellback.agents import LORIL
from tellback.streams import Streams
from tellback.worlds import Synthetic

ROUNDS = 10_000
SEEDS = (0, 1, 2)
AGENT = LORIL(k=0.1, lam=1.0)
WORLD = Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75)
BAR_LISTS, BAR_COUNTS = 200, 50


def ours(seed: int) -> float:
    return float(play(WORLD, AGENT, ROUNDS, seed=seed).regret[-1])


def in_torch(seed: int, compressed: bool) -> float:
    simulation = WORLD.begin(Streams(seed).birth("world"))
    f = simulation.truth._f  # type: ignore[union-attr]
    g = simulation.world._listed[0].matrix  # type: ignore[attr-defined]
    return torch_loril(f, g, ROUNDS, AGENT.k, AGENT.lam, seed, compressed)


def lists(seed: int) -> float:
    return in_torch(seed, compressed=False)


def counts(seed: int) -> float:
    return in_torch(seed, compressed=True)


def speed() -> bool:
    play(WORLD, AGENT, rounds=100, seed=99)  # compiles, or reads compiled code from disk
    seconds: dict[Callable[[int], float], list[float]] = defaultdict(list)
    regrets: dict[Callable[[int], float], list[float]] = defaultdict(list)
    for seed in SEEDS:
        # Ours before, between and after: a machine that slows down slows all three.
        for job in (ours, ours, lists, ours, counts, ours, ours):
            began = time.perf_counter()
            regrets[job].append(job(seed))
            seconds[job].append((time.perf_counter() - began) / ROUNDS)
    cost = {job: float(np.median(times)) for job, times in seconds.items()}
    to_lists, to_counts = cost[lists] / cost[ours], cost[counts] / cost[ours]
    regret, theirs = float(np.mean(regrets[ours])), float(np.mean(regrets[lists]))
    print(f"play(LORIL), |X| = 2000, |Y| = 10, d = 10, T = {ROUNDS:,}, seeds {SEEDS}, medians:")
    print(f"  play                          {cost[ours] * 1e6:8.1f} us a round")
    print(f"  PyTorch, full history         {cost[lists] * 1e6:8.1f} us a round")
    print(f"  PyTorch, history as counts    {cost[counts] * 1e6:8.1f} us a round")
    fast, also_fast = to_lists >= BAR_LISTS, to_counts >= BAR_COUNTS
    as_good = regret <= theirs
    print(f"  ratio to full history         {to_lists:8.0f}   {bar(fast, BAR_LISTS)}")
    print(f"  ratio to counts               {to_counts:8.0f}   {bar(also_fast, BAR_COUNTS)}")
    print(f"  mean regret                   {regret:8.2f}   {bar(as_good, theirs)}")
    return fast and also_fast and as_good


def bar(met: bool, at: float) -> str:
    """Whether a bar was met, for the printed line."""
    return f"(bar {at:.4g}) {'met' if met else 'NOT MET'}"
