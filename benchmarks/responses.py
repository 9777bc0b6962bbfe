"""Act and learn every round among many responses: against bare NumPy, and against the memory.

    python -m benchmarks.responses            # all sizes; some minutes
    python -m benchmarks.responses --short    # seconds: fails if a ratio got worse by half

All is CPU time of one thread: the minimum of repeats, both sides in turns. So it can be measured
beside other work.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from pathlib import Path

import numba
import numpy as np

from tellback.agents import LORIL
from tellback.agents.agent import ModelAgent
from tellback.arrays import Array, Indices
from tellback.compiled import compiled_freely
from tellback.models import Ridge
from tellback.responses import Listed
from tellback.roles import Facts, Task

RESULTS = Path(__file__).parent / "results"
K, LAM, INSTRUCTIONS = 0.1, 1.0, 5
SHORT = ("K = 50, d = 20, fixed", "K = 50, d = 20, fresh", "K = 2000, d = 20, fresh")
WORSE = 1.5
"""How much worse than in the kept results a ratio may be."""


def built(dim: int, fixed: bool, search: str = "scan") -> ModelAgent:
    """LORIL on ridge regression."""
    facts = Facts(dim, INSTRUCTIONS, fixed_responses=fixed)
    spec = LORIL(k=K, lam=LAM, model=Ridge(lam=LAM, search=search), ties="first")
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


@compiled_freely
def _read(values: Indices) -> int:
    """A sum of whole numbers, which is as fast as memory."""
    total = 0
    for n in range(len(values)):  # without an index it would not be vectorised
        total += values[n]
    return total


def many(responses: int, dim: int, dtype: str, rounds: int = 60) -> dict[str, float]:
    """Seconds a round of both searches in clustered features, and to read the features once."""
    rng = np.random.default_rng(2)
    centres = rng.standard_normal((300, dim), dtype=np.float32)
    features = centres[rng.integers(300, size=responses)]
    features += 0.1 * rng.standard_normal((responses, dim), dtype=np.float32)
    features /= np.float32(dim**0.5)
    listed = Listed(features.astype(dtype))
    del features
    words = listed.columns.reshape(-1).view(np.int64)
    agents = {way: built(dim, True, way) for way in ("scan", "pruned")}
    times: dict[str, list[float]] = {"read": [], "scan": [], "pruned": []}
    same = True
    for x in rng.integers(INSTRUCTIONS, size=rounds).tolist():
        task, chosen = Task(None, x, listed), dict[str, int]()
        began = time.process_time()
        _read(words)
        times["read"].append(time.process_time() - began)
        for way, agent in agents.items():
            began = time.process_time()
            choice = agent.respond(task, rng)
            agent.learn(task, choice, int(choice.response) % INSTRUCTIONS)
            times[way].append(time.process_time() - began)
            chosen[way] = choice.response
        same = same and chosen["scan"] == chosen["pruned"]
    if not same:
        raise AssertionError("The pruned search chose other responses than the scan.")
    later = slice(rounds // 2, None)  # the first rounds cluster, compile and know nothing yet
    read, scan = min(times["read"]), min(times["scan"][later])
    medians = {way: float(np.median(costs[later])) for way, costs in times.items()}
    return {
        "read ms": 1e3 * read,
        "scan ms": 1e3 * scan,
        "share of read bandwidth": read / scan,
        "pruned ms, median": 1e3 * medians["pruned"],
        "scan over pruned, medians": medians["scan"] / medians["pruned"],
        "pruned over scan, all rounds": sum(times["pruned"][1:]) / sum(times["scan"][1:]),
        "bytes a response": listed.columns.nbytes / responses + 8,
    }


def responses() -> bool:
    """Print all figures, and write them with the machine and the versions."""
    found: dict[str, dict[str, float]] = {}
    for count, dim in ((10, 10), (50, 20), (2_000, 20), (2_000, 64), (2_000, 256)):
        for fixed in (True, False):
            name = f"K = {count}, d = {dim}, {'fixed' if fixed else 'fresh'}"
            found[name] = against_numpy(count, dim, fixed, 7)
            print(_line(name, found[name]), flush=True)
    for count in (100_000, 1_000_000):
        for dim in (16, 64):
            for dtype in ("float64", "float32"):
                name = f"K = {count}, d = {dim}, {dtype}"
                found[name] = many(count, dim, dtype)
                print(_line(name, found[name]), flush=True)
    RESULTS.mkdir(exist_ok=True)
    about = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    kept = {"machine": about, "measured": found}
    (RESULTS / "responses.json").write_text(json.dumps(kept, indent=1) + "\n")
    return True


def short() -> bool:
    """Whether no ratio to bare NumPy is worse by half than it should be."""
    met = True
    kept = json.loads((RESULTS / "responses.json").read_text())["measured"]
    for name in SHORT:
        bar = WORSE * kept[name]["ratio"]
        count, dim = (int(part.split("=")[1]) for part in name.split(",")[:2])
        ratio = against_numpy(count, dim, name.endswith("fixed"), 9)["ratio"]
        print(f"{name:<28} {ratio:6.2f} (bar {bar:.2f})")
        met = met and ratio <= bar
    return met


def _line(name: str, figures: dict[str, float]) -> str:
    return f"{name:<32}" + "  ".join(f"{what} {value:.3g}" for what, value in figures.items())


if __name__ == "__main__":
    sys.exit(0 if (short() if "--short" in sys.argv else responses()) else 1)
