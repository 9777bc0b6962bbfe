"""How often off-policy intervals hold the truth, and how long they are.

    python -m benchmarks.off_policy [logs]
    python -m benchmarks.off_policy loggers [logs]

Every log is played in a world with its own task stream. The truth is the target's mean reward on
the log's tasks, which a simulation knows exactly. For each estimator: the share of 95% intervals
that held the truth, their mean length, and the mean error in standard errors of the mean over logs
(about -2 to 2 without bias; refused logs are not counted).

The second form shows which agents write logs by which others can be judged: how many of their logs
are refused, and how long the intervals of the other logs are.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from tellback import Simulation, Task, play, rounds
from tellback.agents import (
    AgentSpec,
    EpsilonGreedy,
    Greedy,
    InverseGap,
    Thompson,
    Uniform,
)
from tellback.arrays import Array
from tellback.models import Mixture
from tellback.off_policy import (
    Greedily,
    Log,
    OverlapError,
    Policy,
    Uniformly,
    ValueEstimate,
    doubly_robust,
    inverse_propensity,
    self_normalised,
)
from tellback.roles import Instruction
from tellback.worlds import Synthetic

LOGS = 400
ROUNDS = (50, 200, 1000)
TAUGHT = 300
"""Rounds from which the target and the doubly robust model have learned, in another run."""

WORLDS = {
    "5 instructions": Synthetic(instructions=5, responses=5, rank=3, temperature=0.5, seed=0),
    "100 instructions": Synthetic(instructions=100, responses=10, rank=5, seed=0),
}
LOGGERS: dict[str, AgentSpec] = {"epsilon 0.3": EpsilonGreedy(epsilon=0.3), "uniform": Uniform()}


CANDIDATES: tuple[AgentSpec, ...] = (
    Uniform(),
    EpsilonGreedy(epsilon=0.3),
    EpsilonGreedy(epsilon=0.1),
    InverseGap(),
    Thompson(),
)
LONG = 1000
"""Rounds of the logs of candidates."""


def true_mean(simulation: Simulation, log: Log, policy: Policy) -> float:
    """The target's mean reward on the tasks of the log."""
    truth = simulation.truth
    assert truth is not None
    asked = Counter(task.instruction for task in log.tasks)
    total = 0.0
    for task in {task.instruction: task for task in log.tasks}.values():
        rewards = [truth.reward(task, y) for y in range(len(task.responses))]
        total += asked[task.instruction] * float(policy.probabilities(task) @ np.array(rewards))
    return total / len(log)


class Skewed:
    """A target that mostly wants the last response, whatever was asked."""

    def probabilities(self, task: Task) -> Array:
        """The last has 0.8, the rest is shared by all."""
        shares = np.full(len(task.responses), 0.2 / len(task.responses))
        shares[-1] += 0.8
        return shares


class Remembered:
    """A policy in a world whose responses stay the same, asked once for each instruction."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known: dict[Instruction, Array] = {}

    def probabilities(self, task: Task) -> Array:
        """Those of the policy."""
        x = task.instruction
        if x not in self._known:
            self._known[x] = self._policy.probabilities(task)
        return self._known[x]


def report(world: Synthetic, logger: AgentSpec, number: int, logs: int) -> dict[str, list[str]]:
    """A row for every target: coverage, length and bias of each estimator, and refusals."""
    simulation = world.build(np.random.default_rng(0))
    taught, targets = _targets(simulation)
    estimators: list[Callable[[Log, Policy], ValueEstimate]] = [
        inverse_propensity,
        self_normalised,
        lambda log, target: doubly_robust(log, target, taught),
        lambda log, target: doubly_robust(
            log, target, Mixture().build(world.facts, np.random.default_rng(0)), learn=True
        ),
    ]
    found: dict[str, list[list[tuple[float, ValueEstimate]]]] = {name: [] for name in targets}
    refused = dict.fromkeys(targets, 0)
    for seed in range(logs):
        log = Log.of(islice(rounds(simulation, logger, seed=seed), number))
        for name, target in targets.items():
            try:
                estimates = [estimate(log, target) for estimate in estimators]
            except OverlapError:
                refused[name] += 1
                continue
            truth = true_mean(simulation, log, target)
            found[name].append([(truth, estimate) for estimate in estimates])
    rows = {}
    for name, of_logs in found.items():
        cells = [_cell([one[i] for one in of_logs]) for i in range(len(estimators))]
        rows[name] = [*cells, str(refused[name])]
    return rows


def _targets(simulation: Simulation) -> tuple[Any, dict[str, Policy]]:
    """A model that was taught elsewhere, and policies to be judged."""
    taught = play(simulation, Greedy(), TAUGHT, seed=10**6).agent.model  # type: ignore[attr-defined]
    targets: dict[str, Policy] = {
        "uniform": Remembered(Uniformly()),
        "greedy": Remembered(Greedily(taught)),
        "epsilon 0.2": Remembered(Greedily(taught, epsilon=0.2)),
        "last response": Remembered(Skewed()),
    }
    return taught, targets


def logger_row(world: Synthetic, logger: AgentSpec, logs: int) -> list[str]:
    """What a logger earns itself, and of each target: logs refused, mean length of intervals."""
    simulation = world.build(np.random.default_rng(0))
    _, targets = _targets(simulation)
    written = [Log.played(world, logger, LONG, seed=seed) for seed in range(logs)]
    cells = [f"{np.mean([log.matches.mean() for log in written]):.3f}"]
    for target in targets.values():
        lengths = []
        for log in written:
            try:
                found = inverse_propensity(log, target)
            except OverlapError:
                continue
            lengths.append(found.high - found.low)
        mean = f"{np.mean(lengths):.3f}" if lengths else "-"
        cells.append(f"{logs - len(lengths)} of {logs}, {mean}")
    return cells


def _cell(pairs: list[tuple[float, ValueEstimate]]) -> str:
    held = np.mean([e.low <= truth <= e.high for truth, e in pairs])
    length = np.mean([e.high - e.low for _, e in pairs])
    errors = np.array([e.mean - truth for truth, e in pairs])
    bias = errors.mean() / (errors.std(ddof=1) / np.sqrt(len(errors)))
    return f"{held:.3f} {length:.3f} {bias:+.1f}"


def loggers(logs: int) -> None:
    """Print which agents write logs that others can be judged by."""
    print(f"{logs} logs of {LONG} rounds: mean reward; of each target, logs refused, mean length")
    for place, world in WORLDS.items():
        for logger in CANDIDATES:
            print(f"{place:<18}{logger.label():<52}", *logger_row(world, logger, logs), sep=" | ")


if __name__ == "__main__":
    if sys.argv[1:2] == ["loggers"]:
        loggers(int(sys.argv[2]) if len(sys.argv) > 2 else 40)
        sys.exit()
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else LOGS
    names = ["inverse propensity", "self-normalised", "doubly robust", "learning along"]
    print(f"{logs} logs a row: coverage of 95% intervals, mean length, bias in standard errors")
    for place, world in WORLDS.items():
        for played, logger in LOGGERS.items():
            for number in ROUNDS:
                print(f"\n{place}, logged by {played}, {number} rounds")
                print(f"{'target':<14}", *(f"{name:<19}" for name in names), "refused")
                for target, cells in report(world, logger, number, logs).items():
                    print(f"{target:<14}", *(f"{cell:<19}" for cell in cells), flush=True)
