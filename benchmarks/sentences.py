"""Greedy in the image world: our sentence model beside the plain one in PyTorch."""

from __future__ import annotations

import multiprocessing
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.speed import bar
from tellback import play
from tellback.agents import Greedy
from tellback.lab import less_regret
from tellback.models import Sentence
from tellback.worlds import Images

ROUNDS = 400
SEEDS = range(5)
SPEED_BAR = 15.0
OURS, PLAIN = "ours", "plain"


def timed(job: str, seed: int, rounds: int) -> tuple[float, float]:
    """Final regret, and seconds a round."""
    agent = Greedy(model=Sentence())
    if job == PLAIN:
        import torch

        from benchmarks.torch_sentence import TorchSentence

        torch.set_num_threads(1)  # more of them only wait for each other at these sizes
        agent = Greedy(model=TorchSentence())
    began = time.perf_counter()
    regret = play(Images(), agent, rounds, seed=seed).regret[-1]
    return float(regret), (time.perf_counter() - began) / rounds


def sentences() -> bool:
    costs: dict[str, list[float]] = defaultdict(list)
    regrets: dict[str, list[float]] = defaultdict(list)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as ours, ProcessPoolExecutor(1, spawn) as plain:
        sides = {OURS: ours, PLAIN: plain}
        for job, side in sides.items():  # compiles, trains the autoencoder, warms up
            side.submit(timed, job, 99, 5).result()
        for seed in SEEDS:
            for job, side in sides.items():  # in turns: a machine that slows down slows both
                regret, seconds = side.submit(timed, job, seed, ROUNDS).result()
                regrets[job].append(regret)
                costs[job].append(seconds)
    cost = {job: float(np.median(values)) for job, values in costs.items()}
    ratio = cost[PLAIN] / cost[OURS]
    print(f"Greedy in the image world, T = {ROUNDS}, 20 steps a round on batches of 32, 1 thread:")
    print(f"  ours                  {cost[OURS] * 1e3:8.2f} ms a round")
    print(
        f"  plain nn.GRU          {cost[PLAIN] * 1e3:8.2f} ms a round, ratio {ratio:6.1f}   "
        f"{bar(ratio >= SPEED_BAR, SPEED_BAR)}"
    )
    means = {job: float(np.mean(values)) for job, values in regrets.items()}
    difference = less_regret(np.array(regrets[OURS]), np.array(regrets[PLAIN]))
    alike = difference.verdict == "undecided"
    print(f"  mean regret {means[OURS]:.2f} against {means[PLAIN]:.2f} on the same tasks;")
    print(f"  less regret than plain: {difference}; {'alike' if alike else 'NOT ALIKE'}")
    return ratio >= SPEED_BAR and alike
