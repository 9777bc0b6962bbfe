"""What the approximate search costs in regret, and what it saves in time.

    python -m benchmarks.approximate     # some 4 minutes of CPU

LORIL on ridge regression among 100,000 fixed responses, in clusters or not: by the scan, by the
pruned search and by the approximate one (extra ``faiss``), on the same worlds, tasks and random
numbers. Regret differences are paired by seed. k and the settings of the search were chosen on
seeds 1000 to 1002. Features and F are distributions, so that F g is one.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product
from typing import Any

import numpy as np

from benchmarks.kept import keep
from benchmarks.responses import built
from tellback.arrays import Array
from tellback.lab.compare import less_regret, mean_of
from tellback.responses import Listed
from tellback.roles import Task

RESPONSES, DIMS, INSTRUCTIONS, CLUSTERS = 100_000, (16, 64), 5, 300
K, ROUNDS, SEEDS = 1.0, 1000, tuple(range(20))
OWN_SHARES = {"in clusters": 0.2, "spread": 1.0}
SEARCHES = ("scan", "pruned", "approximate")


def world(dim: int, seed: int, own_share: float) -> tuple[Array, Listed]:
    """F, and responses between one of some centres and a point of their own."""
    rng = np.random.default_rng([dim, seed])
    scores = rng.standard_normal((INSTRUCTIONS, dim)) / 0.5
    f = np.exp(scores) / np.exp(scores).sum(axis=0)
    centres = rng.dirichlet(np.full(dim, 0.3), size=CLUSTERS)
    own = rng.dirichlet(np.full(dim, 0.3), size=RESPONSES)
    return f, Listed(
        (1 - own_share) * centres[rng.integers(CLUSTERS, size=RESPONSES)] + own_share * own
    )


def play(search: str, f: Array, listed: Listed, seed: int) -> tuple[float, float]:
    """The final regret, and the median of CPU milliseconds a round."""
    agent, rng = built(listed.dim, True, search, K), np.random.default_rng([1, seed])
    draws = np.random.default_rng([2, seed])
    cumulative, best = np.cumsum(f, axis=0), (f @ listed.columns).max(axis=1)
    regret, times = 0.0, []
    for x in draws.integers(INSTRUCTIONS, size=ROUNDS).tolist():
        task, u = Task(None, x, listed), draws.random()
        began = time.process_time()
        choice = agent.respond(task, rng)
        times.append(time.process_time() - began)
        told = int(np.searchsorted(cumulative @ choice.features, u))
        began = time.process_time()
        agent.learn(task, choice, min(told, INSTRUCTIONS - 1))
        times[-1] += time.process_time() - began
        regret += float(best[x] - f[x] @ choice.features)
    return regret, 1e3 * float(np.median(times))


def cell(dim: int, own_share: float) -> dict[str, Any]:
    """Regret and time of every search, and the paired differences to the scan."""
    regrets: dict[str, list[float]] = {search: [] for search in SEARCHES}
    times: dict[str, list[float]] = {search: [] for search in SEARCHES}
    for seed in SEEDS:
        f, listed = world(dim, seed, own_share)
        for search in SEARCHES:
            regret, cost = play(search, f, listed, seed)
            regrets[search].append(regret)
            times[search].append(cost)
    scan, other = (np.array(regrets[search]) for search in ("scan", "approximate"))
    more = mean_of(other - scan)
    return {
        "n": len(SEEDS),
        "regret, scan": float(scan.mean()),
        "regret, approximate": float(other.mean()),
        "more regret": [more.mean, more.low, more.high],
        "as a share": str(less_regret(scan, other)),
        **{f"{search} ms": float(np.median(times[search])) for search in SEARCHES},
        "pruned chose otherwise": regrets["pruned"] != regrets["scan"],
    }


def approximate() -> bool:
    """Print and keep both cells; the only bar is that the exact searches have the same regret."""
    os.environ["OMP_NUM_THREADS"] = "1"
    measured = {}
    for dim, (how, own_share) in product(DIMS, OWN_SHARES.items()):
        found = measured[f"K = {RESPONSES}, d = {dim}, {how}"] = cell(dim, own_share)
        print(f"K = {RESPONSES:,}, d = {dim}, {how}:", found, flush=True)
    import faiss

    keep("approximate", measured, faiss=faiss.__version__)
    return not any(found["pruned chose otherwise"] for found in measured.values())


if __name__ == "__main__":
    sys.exit(0 if approximate() else 1)
