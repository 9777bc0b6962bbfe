"""Ten million rounds of LORIL on the paper's printed synthetic world, as a study plays them.

    python -m benchmarks.long_runs     # about a minute of CPU

A first pass is the study's own run: CPU time a round and memory in each million. A second pass
plays the same rounds a million at a time, and holds the inverse and the widths that the agent
keeps by rank-one updates against those computed afresh from the number of times that each
response was chosen, with 50 digits.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import mpmath
import numpy as np

from benchmarks.flatness import resident
from benchmarks.kept import keep
from benchmarks.speed import bar
from tellback.agents import LORIL
from tellback.arrays import Array, Indices
from tellback.compiled_run import played_blocks
from tellback.lab import RunSpec
from tellback.paper.synthetic import PRINTED
from tellback.streams import Streams

ROUNDS, MILLION = 10_000_000, 1_000_000
RUN = RunSpec(PRINTED, LORIL(k=0.1, lam=1.0), ROUNDS, seed=0)
TIME_BAR, MEMORY_BAR = 1.2, 1.05
INVERSE_BAR, WIDTH_BAR = 1e-10, 1e-8  # relative errors
DIGITS = 50


def costs() -> tuple[list[float], list[float]]:
    """CPU microseconds a round, and mebibytes in memory, in each million of rounds."""
    RunSpec(PRINTED, RUN.agent, 100, seed=0).perform()  # compiles
    times, memory, done = [time.process_time()], list[float](), 0

    def note(rounds: int) -> None:
        nonlocal done
        done += rounds
        if not done % MILLION:
            times.append(time.process_time())
            memory.append(resident() / 2**20)

    RUN.perform(note)
    return (np.diff(times) / MILLION * 1e6).tolist(), memory


def errors() -> tuple[list[float], list[float]]:
    """The relative error of the inverse and of the widths after each million of rounds."""
    of_inverse, of_widths = list[float](), list[float]()
    chosen = np.zeros(PRINTED.responses, dtype=np.int64)
    simulation: Any = PRINTED.build(Streams(RUN.seed).init("world"))
    (listed,) = simulation.world.listed
    for block in played_blocks(RUN.world, RUN.agent, ROUNDS, RUN.seed, None, MILLION):
        agent: Any = block.agent
        sigma = agent.explorer.ellipsoid
        chosen += np.bincount(block.responses, minlength=len(chosen))
        inverse = fresh_inverse(listed.matrix, chosen, sigma.lam)
        g = mpmath.matrix(listed.matrix.tolist())
        widths = [(g[y, :] * inverse * g[y, :].T)[0] for y in range(len(listed))]
        kept = sigma.squared_widths(listed, keep=True)
        difference = mpmath.matrix(sigma.inverse.tolist()) - inverse
        of_inverse.append(float(mpmath.mnorm(difference, "f") / mpmath.mnorm(inverse, "f")))
        of_widths.append(max(float(abs(k / w - 1)) for k, w in zip(kept, widths, strict=True)))
    return of_inverse, of_widths


def fresh_inverse(features: Array, chosen: Indices, lam: float) -> Any:
    """(lambda I + sum of n g g')^-1 with many digits."""
    g = mpmath.matrix(features.tolist())
    sigma = lam * mpmath.eye(features.shape[1])
    for y, n in enumerate(chosen.tolist()):
        sigma += n * (g[y, :].T * g[y, :])
    return sigma**-1


def long_runs() -> bool:
    mpmath.mp.dps = DIGITS
    microseconds, memory = costs()
    of_inverse, of_widths = errors()
    measured = {
        f"{n + 1} million": {
            "CPU us a round": microseconds[n],
            "MiB": memory[n],
            "error of the inverse": of_inverse[n],
            "error of a width": of_widths[n],
        }
        for n in range(ROUNDS // MILLION)
    }
    print(f"LORIL on the printed synthetic world, {ROUNDS:,} rounds, as a study plays them:")
    for name, row in measured.items():
        print(f"  {name:<12}" + "  ".join(f"{what} {value:.3g}" for what, value in row.items()))
    # In the first million pairs of description and response are still new, and must be stored.
    bars = {
        "time, last million over second": (microseconds[-1] / microseconds[1], TIME_BAR),
        "memory, the same": (memory[-1] / memory[1], MEMORY_BAR),
        "largest error of the inverse": (max(of_inverse), INVERSE_BAR),
        "largest error of a width": (max(of_widths), WIDTH_BAR),
    }
    for what, (value, at) in bars.items():
        print(f"  {what:<34}{value:10.3g}   {bar(value <= at, at)}")
    keep("long_runs", measured)
    return all(value <= at for value, at in bars.values())


if __name__ == "__main__":
    sys.exit(0 if long_runs() else 1)
