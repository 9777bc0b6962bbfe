"""Act and learn every round among many responses: against bare NumPy, and against the memory.

    python -m benchmarks.responses            # all sizes; some 20 minutes, and 12 GB of memory
    python -m benchmarks.responses --short    # seconds: fails if a ratio got worse by half
    python -m benchmarks.responses "K = 1000000, d = 16"    # only the cells named so; not kept

CPU time of one thread, the minimum of repeats, both sides in turns, can be measured beside other
work. What all threads do together is time on the clock, and needs a quiet machine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.kept import keep, kept
from tellback.agents import LORIL
from tellback.agents.agent import ModelAgent
from tellback.arrays import Array, Indices
from tellback.compiled import compiled_for_threads
from tellback.models import Ridge
from tellback.models.search.pruned import PRUNE_FROM, Pruned
from tellback.models.threads import in_threads
from tellback.responses import Listed
from tellback.roles import Facts, Task

K, LAM, INSTRUCTIONS = 0.1, 1.0, 5
SHORT = ("K = 50, d = 20, fixed", "K = 50, d = 20, fresh", "K = 2000, d = 20, fresh")
SIZES = (
    *((10, 10), (50, 20), (2_000, 20), (2_000, 64), (2_000, 256)),
    *((10, 16), (100, 16), (1_000, 16), (10, 64), (100, 64), (1_000, 64)),
)
LARGEST = 3_000_000_000
"""Bytes of features, at most."""
ATTEMPTS = 5
WORSE = 1.5
"""How much worse than in the kept results a ratio may be."""


def built(dim: int, fixed: bool, search: str = "scan", k: float = K) -> ModelAgent:
    """LORIL on ridge regression."""
    facts = Facts(dim, INSTRUCTIONS, fixed_responses=fixed)
    spec = LORIL(k=k, lam=LAM, model=Ridge(lam=LAM, search=search), ties="first")
    return spec.build(facts, np.random.default_rng(0))


def bare(matrices: list[Array], asked: list[int]) -> float:
    """Seconds a round of the same in plain NumPy, by the formula of Sherman and Morrison."""
    dim = matrices[0].shape[1]
    inverse, sums = np.eye(dim) / LAM, np.zeros((INSTRUCTIONS, dim))
    began = time.process_time()
    for g, x in zip(matrices, asked, strict=True):
        upper = g @ (inverse @ sums[x]) + K * np.sqrt(((g @ inverse) * g).sum(axis=1))
        chosen = g[int(upper.argmax())]
        u = inverse @ chosen
        inverse -= np.outer(u, u) / (1 + chosen @ u)
        sums[x] += chosen
    return (time.process_time() - began) / len(asked)


def ours(matrices: list[Array], asked: list[int], fixed: bool) -> float:
    """Seconds a round of tellback, the responses being listed anew where they are fresh."""
    agent, rng = built(matrices[0].shape[1], fixed), np.random.default_rng(0)
    listed = Listed(matrices[0])
    began = time.process_time()
    for g, x in zip(matrices, asked, strict=True):
        task = Task(None, x, listed if fixed else Listed(g))
        choice = agent.respond(task, rng)
        agent.learn(task, choice, x)
    return (time.process_time() - began) / len(asked)


def against_numpy(responses: int, dim: int, fixed: bool, repeats: int) -> dict[str, float]:
    """Microseconds a round of both, and their ratio."""
    rng = np.random.default_rng(1)
    rounds = max(20, 40_000_000 // (responses * dim * (dim + 40)))
    rounds = min(rounds, 1000)
    matrices = [rng.standard_normal((responses, dim)) / dim**0.5 for _ in range(20)]
    shown = [matrices[0 if fixed else n % 20] for n in range(rounds)]
    asked = rng.integers(INSTRUCTIONS, size=rounds).tolist()
    ours(shown[:3], asked[:3], fixed)  # compiles
    times = [(ours(shown, asked, fixed), bare(shown, asked)) for _ in range(repeats)]
    us, them = (1e6 * min(side) for side in zip(*times, strict=True))
    return {"tellback us": us, "numpy us": them, "ratio": us / them}


@compiled_for_threads
def _read(values: Indices, totals: Indices, begin: int, end: int) -> None:
    """A sum of whole numbers, which is as fast as memory."""
    part, total = values[begin:end], 0
    for n in range(len(part)):  # without an index it would not be vectorised
        total += part[n]
    totals[begin] = total


def clustered_features(responses: int, dim: int, dtype: str) -> Listed:
    """Responses in 300 normal clusters."""
    rng = np.random.default_rng(2)
    centres = rng.standard_normal((300, dim), dtype=np.float32)
    features = centres[rng.integers(300, size=responses)]
    for part in np.array_split(features, max(1, responses // 100_000)):  # little memory at a time
        part += 0.1 * rng.standard_normal(part.shape, dtype=np.float32)
    features /= np.float32(dim**0.5)
    return Listed(features.astype(dtype, copy=False))


def many(responses: int, dim: int, dtype: str, rounds: int = 60) -> dict[str, float]:
    """Medians of both searches in clustered features, and of reading the features once.

    Shares of the bandwidth are of the least times: those that nothing disturbed.
    """
    listed = clustered_features(responses, dim, dtype)
    words = listed.columns.reshape(-1).view(np.int64)
    totals = np.zeros(len(words), np.int64)
    ways = {"scan": "scan", "scan, threads": "scan", "pruned": "pruned"}
    agents = {name: built(dim, True, way) for name, way in ways.items()}
    times: dict[str, list[float]] = {name: [] for name in ("read", "read, threads", *ways)}
    rng, same = np.random.default_rng(3), True
    for x in rng.integers(INSTRUCTIONS, size=rounds).tolist():
        task, chosen = Task(None, x, listed), set[int]()
        for name, costs in times.items():
            clock = _threads(name.endswith("threads"))
            began = clock()
            if name.startswith("read"):
                in_threads(_read, len(words), (words, totals))
            else:
                choice = agents[name].respond(task, rng)
                agents[name].learn(task, choice, int(choice.response) % INSTRUCTIONS)
                chosen.add(choice.response)
            costs.append(clock() - began)
        same = same and len(chosen) == 1
    if not same:
        raise AssertionError("The searches chose different responses.")
    later = slice(rounds // 2, None)  # the first rounds cluster, compile and know nothing yet
    least = {name: min(costs[later]) for name, costs in times.items()}
    medians = {name: float(np.median(costs[later])) for name, costs in times.items()}
    began = time.process_time()
    if responses * dim >= PRUNE_FROM:
        Pruned(listed, agents["pruned"].model.ellipsoid)  # type: ignore[attr-defined]
    building = time.process_time() - began
    pruned = {
        "pruned ms": 1e3 * medians["pruned"],
        "clusters, ms": 1e3 * building,
        "rounds until it pays": building / (medians["scan"] - medians["pruned"]),
        "scan over pruned": medians["scan"] / medians["pruned"],
        "all rounds, pruned over scan": sum(times["pruned"][1:]) / sum(times["scan"][1:]),
        "slowest round, pruned over scan": max(times["pruned"][1:]) / medians["scan"],
    }
    return {
        "read ms": 1e3 * medians["read"],
        "scan ms": 1e3 * medians["scan"],
        "share of read bandwidth": least["read"] / least["scan"],
        "share, all threads": least["read, threads"] / least["scan, threads"],
        **(pruned if responses * dim >= PRUNE_FROM else {}),
        "bytes a response": listed.columns.nbytes / responses + 8,
    }


def _threads(all_of_them: bool) -> Callable[[], float]:
    """Use one thread and its time, or all threads and the time on the clock."""
    os.environ["OMP_NUM_THREADS"] = str(os.cpu_count() if all_of_them else 1)
    return time.perf_counter if all_of_them else time.process_time


def responses(named: str = "") -> bool:
    """Print all figures, and write them with the machine and the versions.

    If a name is given, only cells whose names start so are measured, and nothing is written.
    """
    found: dict[str, dict[str, float]] = {}
    for count, dim in SIZES:
        for fixed in (True, False):
            name = f"K = {count}, d = {dim}, {'fixed' if fixed else 'fresh'}"
            if not name.startswith(named):
                continue
            found[name] = against_numpy(count, dim, fixed, 7)
            print(_line(name, found[name]), flush=True)
    for count in (10_000, 100_000, 1_000_000, 10_000_000):
        for dim in (16, 64):
            for dtype in ("float64", "float32"):
                name = f"K = {count}, d = {dim}, {dtype}"
                too_large = count * dim * np.dtype(dtype).itemsize > LARGEST
                if too_large or not name.startswith(named):
                    continue
                found[name] = many(count, dim, dtype, 60 if count < 10_000_000 else 30)
                print(_line(name, found[name]), flush=True)
                if not named:
                    keep("responses", found)
    return True


def short() -> bool:
    """Whether no ratio to bare NumPy is worse by half than it should be.

    A ratio that is too high is measured again: neighbours can only make it worse for a while.
    """
    met = True
    before = kept("responses")["measured"]
    for name in SHORT:
        bar = WORSE * before[name]["ratio"]
        count, dim = (int(part.split("=")[1]) for part in name.split(",")[:2])
        ratio = np.inf
        for _ in range(ATTEMPTS):
            ratio = min(ratio, against_numpy(count, dim, name.endswith("fixed"), 9)["ratio"])
            if ratio <= bar:
                break
        print(f"{name:<28} {ratio:6.2f} (bar {bar:.2f})")
        met = met and ratio <= bar
    return met


def _line(name: str, figures: dict[str, float]) -> str:
    return f"{name:<32}" + "  ".join(f"{what} {value:.3g}" for what, value in figures.items())


if __name__ == "__main__":
    sys.exit(0 if (short() if "--short" in sys.argv else responses(*sys.argv[1:2])) else 1)
