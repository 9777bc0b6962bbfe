"""Rounds a second of ``play`` against LORIL written in PyTorch."""

from __future__ import annotations

import multiprocessing
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from tellback import play
from tellback.agents import LORIL
from tellback.lab import less_regret
from tellback.streams import Streams
from tellback.worlds import Synthetic

ROUNDS = 10_000
SEEDS = tuple(range(8))
FULL_HISTORY_SEEDS = SEEDS[:2]  # the full history takes up to a minute a run
K, LAM = 0.1, 1.0
AGENT = LORIL(k=K, lam=LAM)
WORLD = Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75)
OURS = "play"
LISTS, TENSORS, COUNTS = "lists", "tensors", "counts"
NAMES = {
    OURS: "play",
    LISTS: "PyTorch, full history, in lists",
    TENSORS: "PyTorch, full history, preallocated",
    COUNTS: "PyTorch, history as counts",
}
BARS = {LISTS: 200, COUNTS: 50}


def timed(job: str, seed: int) -> tuple[float, float]:
    """The regret of a run and its seconds a round."""
    if job == OURS:
        began = time.perf_counter()
        regret = float(play(WORLD, AGENT, ROUNDS, seed=seed).regret[-1])
    else:
        from benchmarks.torch_loril import torch_loril

        simulation = WORLD.build(Streams(seed).init("world"))
        f = simulation.truth._f  # type: ignore[union-attr]
        g = simulation.world._listed[0].matrix  # type: ignore[attr-defined]
        began = time.perf_counter()
        regret = torch_loril(f, g, ROUNDS, K, LAM, seed, history=job)
    return regret, (time.perf_counter() - began) / ROUNDS


def speed() -> bool:
    seconds: dict[str, list[float]] = defaultdict(list)
    regrets: dict[str, dict[int, float]] = defaultdict(dict)
    spawn = multiprocessing.get_context("spawn")
    # A process for each side, taking turns: PyTorch's idle threads must not slow ours.
    with ProcessPoolExecutor(1, spawn) as ours, ProcessPoolExecutor(1, spawn) as theirs:
        ours.submit(timed, OURS, 99).result()  # compiles, or reads compiled code from disk
        for seed in SEEDS:
            # Ours before, between and after: a machine that slows down slows all of them.
            full = (LISTS, OURS, TENSORS, OURS) if seed in FULL_HISTORY_SEEDS else ()
            for job in (OURS, *full, COUNTS, OURS):
                side = ours if job == OURS else theirs
                regrets[job][seed], cost = side.submit(timed, job, seed).result()
                seconds[job].append(cost)
    return report({job: float(np.median(costs)) for job, costs in seconds.items()}, regrets)


def report(cost: dict[str, float], regrets: dict[str, dict[int, float]]) -> bool:
    print(f"LORIL, |X| = 2000, |Y| = 10, d = 10, T = {ROUNDS:,}, one Adam step a round in PyTorch:")
    met = True
    for job, name in NAMES.items():
        ratio = cost[job] / cost[OURS]
        line = f"  {name:<36} {cost[job] * 1e6:8.1f} us a round, ratio {ratio:6.1f}"
        if job in BARS:
            line += f"   {bar(ratio >= BARS[job], BARS[job])}"
            met = met and ratio >= BARS[job]
        print(line)
    # Full history and counts are the same algorithm; the counts have more seeds. Worlds are
    # the same for both sides, tasks are not.
    ours, theirs = (np.array([regrets[job][seed] for seed in SEEDS]) for job in (OURS, COUNTS))
    as_good = bool(ours.mean() <= theirs.mean())
    print(f"  mean regret {ours.mean():.3f}   {bar(as_good, theirs.mean())}")
    print(f"  less regret than PyTorch in the same worlds: {less_regret(ours, theirs)}")
    return met and as_good


def bar(met: bool, at: float) -> str:
    """Whether a bar was met, for the printed line."""
    return f"(bar {at:.4g}) {'met' if met else 'NOT MET'}"
