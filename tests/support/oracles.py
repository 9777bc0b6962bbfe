"""Reference code, written apart from the package, that the tests compare it with."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from tellback import Choice, Facts, Listed, Simulation, Task
from tellback.roles import Exchange, Instruction
from tellback.streams import Stream

Floats = NDArray[np.float64]


def hidden_f(simulation: Simulation) -> Floats:
    """The truth's F, which no agent may see; the one place that knows where it is."""
    truth: Any = simulation.truth
    f: Floats = truth._f
    return f


def random_simplex(rng: np.random.Generator, rows: int, dim: int, spread: float = 1.0) -> Floats:
    """Rows on the simplex."""
    points: Floats = rng.dirichlet(np.full(dim, spread), size=rows)
    return points


def log_likelihood(f: Floats, rows: list[int], features: Floats) -> float:
    """One term a description, nothing compressed."""
    return float(sum(np.log(float(f[x] @ g)) for x, g in zip(rows, features, strict=True)))


def gradient(f: Floats, rows: list[int], features: Floats) -> Floats:
    """The derivative of the log-likelihood by F, one description after the other."""
    total = np.zeros_like(f)
    for x, g in zip(rows, features, strict=True):
        total[x] += g / float(f[x] @ g)
    return total


def plain_em(rows: list[int], features: Floats, instructions: int, steps: int) -> Floats:
    """Textbook EM from the uniform F: multiply by the gradient, normalise each column."""
    f = np.full((instructions, features.shape[1]), 1.0 / instructions)
    for _ in range(steps):
        grown = f * gradient(f, rows, features)
        mass = grown.sum(axis=0)
        f = np.where(mass > 0, grown / np.where(mass > 0, mass, 1.0), f)
    return f


def incremental_em(
    rows: list[int], features: Floats, instructions: int, refresh: int, others: int = 4
) -> Floats:
    """The expected counts of unsmoothed incremental EM, in plain loops over a list of entries."""
    dim = features.shape[1]
    expected, totals = np.zeros((instructions, dim)), np.zeros(dim)
    entries: list[tuple[int, Floats, list[int], Floats]] = []  # x, g, [count], shares
    cursor = 0

    def refreshed(x: int, g: Floats, count: list[int], shares: Floats) -> None:
        weights = [
            float(expected[x, i]) * (1.0 / float(totals[i]) if totals[i] > 1e-300 else 0.0)
            for i in range(dim)
        ]
        total = 0.0
        for i in range(dim):
            total += weights[i] * float(g[i])
        if not total > 0:
            return
        for i in range(dim):
            share = weights[i] * float(g[i]) * (count[0] / total)
            change = share - float(shares[i])
            shares[i] = share
            expected[x, i] = max(float(expected[x, i]) + change, 0.0)
            totals[i] = max(float(totals[i]) + change, 0.0)

    for x, g in zip(rows, features, strict=True):
        own = [entry for entry in entries if entry[0] == x]
        found = [entry for entry in own if np.array_equal(entry[1], g)]
        if not found:
            found = [(x, g, [0], np.zeros(dim))]
            entries += found
            own += found
        found[0][2][0] += 1
        found[0][3][:] += g
        expected[x] += g
        totals += g
        for entry in own[::-1][:refresh]:
            refreshed(*entry)
        for _ in range(min(refresh // others, len(entries))):
            cursor = (cursor + 1) % len(entries)
            refreshed(*entries[cursor])
    return expected


def precise_inverse(counts: NDArray[np.int64], features: Floats, lam: float) -> Any:
    """(lam I + sum of n g g')^-1 to 30 digits, by Gauss and Jordan: an array of mpf."""
    with mpmath.workdps(45):
        g = np.array([[mpmath.mpf(v) for v in row] for row in features.tolist()], dtype=object)
        n = np.array([mpmath.mpf(v) for v in counts.tolist()], dtype=object)
        dim = g.shape[1]
        unit = np.array([[mpmath.mpf(i == j) for j in range(dim)] for i in range(dim)])
        left = (g * n[:, None]).T.dot(g) + mpmath.mpf(lam) * unit
        right = unit.copy()
        for i in range(dim):  # positive definite: no pivoting needed
            pivot = left[i, i]
            left[i, i:], right[i, : i + 1] = left[i, i:] / pivot, right[i, : i + 1] / pivot
            others = np.arange(dim) != i
            factors = left[others, i][:, None].copy()
            left[others, i:] = left[others, i:] - factors * left[i, i:]
            right[others, : i + 1] = right[others, : i + 1] - factors * right[i, : i + 1]
        return right


class Diary:
    """A live agent that draws its responses and writes down what happens to it."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, Instruction]] = []
        self.learned: list[tuple[int, Instruction]] = []
        self.known_when_told: list[int] = []
        self.tasks: list[Task] = []

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.tasks.append(task)
        self.asked.append((task.context, task.instruction))
        return task.choose(int(rng.integers(len(task.responses))))

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        self.learned.append((choice.response, description))
        self.known_when_told.append(len(self.asked))


class Mirror:
    """A live world, teacher and truth in one: the description is the response, mostly."""

    def __init__(self, size: int = 3) -> None:
        self.facts = Facts(dim=size, instructions=size, fixed_responses=True)
        self.responses = Listed(np.eye(size))
        self.size = size
        self.lengths: list[int] = []

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        self.lengths.append(len(history))
        return Task("here", int(rng.integers(self.size)), self.responses)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> Instruction | None:
        return response if rng.random() < 0.8 else int(rng.integers(self.size))

    def reward(self, task: Task, response: int) -> float:
        return 0.2 / self.size + (0.8 if task.instruction == response else 0.0)

    def best(self, task: Task) -> float:
        return 0.2 / self.size + 0.8


class Contrarian(Mirror):
    """Asks for what the last description said, shifted by all descriptions that it can read."""

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        past: list[Exchange] = list(history)
        self.lengths.append(len(past))
        total = sum(int(e.description or 0) + 2 * e.response for e in past)
        return Task("here", (total + t) % self.size, self.responses)


def rounds_of(role: str = "agent", seed: int = 0) -> Stream:
    """A stream to draw rounds from."""
    return Stream(seed, role)
