"""The mixture fitted as the paper does: Adam on theta, F being the softmax of its columns.

The same model class as ``Mixture`` and the same likelihood, so that the two ways of
climbing it can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled_freely
from tellback.errors import SettingError, real, whole
from tellback.models.counts import COUNT, FEATURES, INSTRUCTION, Counts
from tellback.models.model import (
    ModelSpec,
    checked_instruction,
    demand_distributions,
    demand_table,
)
from tellback.models.training import EPSILON, FIRST_DECAY, SECOND_DECAY
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State


@dataclass(frozen=True)
class MixtureByAdam(ModelSpec):
    """Gradient steps on theta after every description.

    Parameters
    ----------
    learning_rate : float
        Adam's; the paper's is 0.001.
    steps : int
        Full-history steps a description. The paper does not give a number.
    start : float
        The standard deviation of the normal draws that theta begins with. The paper does not
        say how it begins: 0 makes every column of F uniform, 1 is what PyTorch's ``randn`` gives.
    """

    version: ClassVar[int] = 2  # compiled: other last bits than PyTorch's

    learning_rate: float = 0.001
    steps: int = 1
    start: float = 0.0

    def __post_init__(self) -> None:
        self._set_validated(
            learning_rate=real("learning_rate", self.learning_rate, above=0),
            steps=whole("steps", self.steps),
            start=real("start", self.start, at_least=0),
        )

    def build(self, facts: Facts, rng: np.random.Generator) -> AdamModel:
        """A model without data."""
        shape = demand_table(self.kind, facts), facts.dim
        theta = self.start * rng.standard_normal(shape) if self.start else np.zeros(shape)
        return AdamModel(*shape, self.learning_rate, self.steps, theta)


class AdamModel:
    """A live mixture that is fitted by Adam.

    Parameters
    ----------
    instructions, dim : int
        |X| and d, the shape of F.
    learning_rate, steps
        As in ``MixtureByAdam``.
    theta : Array, optional
        What to begin with; 0 by default.
    """

    inexact: ClassVar[str] = "its fit is not the exact maximum of the likelihood"

    def __init__(
        self,
        instructions: int,
        dim: int,
        learning_rate: float,
        steps: int,
        theta: Array | None = None,
    ) -> None:
        shape = instructions, dim
        self._learning_rate = learning_rate
        self._steps = steps
        self._entries = Counts(instructions, dim)
        self._theta: Array = np.zeros(shape) if theta is None else theta
        self._first, self._second = np.zeros(shape), np.zeros(shape)
        self._done = 0
        self._gradient = np.empty(shape)
        self._f = np.empty(shape)
        self._soften()

    @property
    def f(self) -> Array:
        """F-hat: its columns are distributions over the instructions."""
        return self._f.copy()

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g(y, s) for every listed response y."""
        demand_distributions("mixture-by-adam", responses, self._f.shape[1])
        x = checked_instruction(instruction, len(self._f))
        estimates: Array = responses.matrix @ self._f[x]
        return estimates

    def learn(self, features: Array, description: Instruction) -> None:
        """Count the description and take gradient steps on the whole history."""
        self._entries.add(checked_instruction(description, len(self._f)), features)
        self.climb(self._steps)

    def climb(self, steps: int) -> None:
        """Take that many Adam steps on the mean log-likelihood of all descriptions."""
        entries, size = self._entries, self._entries.size
        total = float(entries.counts.sum())
        for _ in range(steps):
            self._done += 1
            _slope(self._f, entries.links, entries.numbers, size, total, self._gradient)
            _step(
                self._theta,
                self._gradient,
                self._first,
                self._second,
                self._learning_rate / (1 - FIRST_DECAY**self._done),
                1 / np.sqrt(1 - SECOND_DECAY**self._done),
            )
            self._soften()

    def _soften(self) -> None:
        """F from theta. numpy's exponential runs on all lanes of the processor, numba's on one."""
        _below_highest(self._theta, self._f)
        np.exp(self._f, out=self._f)
        _normalise(self._f)

    def log_likelihood(self) -> float:
        """The sum over descriptions of log f-hat(x') . g(y, s)."""
        return self._entries.log_likelihood(self._f)

    def state(self) -> State:
        """The history, theta, and Adam's moments."""
        return {
            **self._entries.state(),
            "theta": self._theta.copy(),
            "first_moment": self._first.copy(),
            "second_moment": self._second.copy(),
            "adam_steps": self._done,
        }

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        names = ("theta", "first_moment", "second_moment")
        saved = {name: np.array(state[name], dtype=np.float64) for name in names}
        for name, values in saved.items():
            if values.shape != self._f.shape:
                raise SettingError(
                    f"The saved {name} is of shape {values.shape}, and this model's is "
                    f"{self._f.shape}."
                )
        done = whole("adam_steps", state["adam_steps"], at_least=0)
        self._entries.restore(state)
        self._theta, self._first, self._second = saved.values()
        self._done = done
        self._soften()


@compiled_freely
def _below_highest(theta: Array, below: Array) -> None:
    """By how much each entry is above the highest of its column: 0 or less."""
    highest = theta[0].copy()
    for x in range(len(theta)):
        for i in range(theta.shape[1]):
            highest[i] = theta[x, i] if theta[x, i] > highest[i] else highest[i]
    for x in range(len(theta)):
        for i in range(theta.shape[1]):
            below[x, i] = theta[x, i] - highest[i]


@compiled_freely
def _normalise(f: Array) -> None:
    """Let every column sum to 1."""
    totals = np.zeros(f.shape[1])
    for x in range(len(f)):
        for i in range(f.shape[1]):
            totals[i] += f[x, i]
    shares = 1 / totals
    for x in range(len(f)):
        for i in range(f.shape[1]):
            f[x, i] *= shares[i]


@compiled_freely
def _slope(
    f: Array, links: Indices, numbers: Array, size: int, total: float, gradient: Array
) -> None:
    """The derivative by theta of minus the mean log-likelihood, theta being that of F."""
    dim = f.shape[1]
    gradient[:] = 0.0
    for entry in range(size):
        x = links[entry, INSTRUCTION]
        p = 0.0
        for i in range(dim):
            p += f[x, i] * numbers[entry, FEATURES + i]
        weight = numbers[entry, COUNT] / (total * p)
        for i in range(dim):
            gradient[x, i] -= weight * numbers[entry, FEATURES + i]
    means = np.zeros(dim)
    for x in range(len(f)):
        for i in range(dim):
            means[i] += f[x, i] * gradient[x, i]
    for x in range(len(f)):
        for i in range(dim):
            gradient[x, i] = f[x, i] * (gradient[x, i] - means[i])


@compiled_freely
def _step(
    theta: Array, gradient: Array, first: Array, second: Array, rate: float, scale: float
) -> None:
    """One step of Adam, given its learning rate and its scale with the bias taken out."""
    at, slope, m, v = theta.ravel(), gradient.ravel(), first.ravel(), second.ravel()
    for i in range(len(at)):
        m[i] = FIRST_DECAY * m[i] + (1 - FIRST_DECAY) * slope[i]
        v[i] = SECOND_DECAY * v[i] + (1 - SECOND_DECAY) * slope[i] * slope[i]
        at[i] -= rate * m[i] / (np.sqrt(v[i]) * scale + EPSILON)
