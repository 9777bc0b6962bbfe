"""The mixture fitted as in the paper: Adam on theta, where F is the softmax of its columns.

The model class and the likelihood are those of ``Mixture``, for comparing the two optimisers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled_freely
from tellback.errors import whole
from tellback.models.counts import COUNT, FEATURES, INSTRUCTION, Counts
from tellback.models.model import ModelSpec, checked_instruction, demand_distributions, demand_table
from tellback.models.states import saved_array
from tellback.models.training import EPSILON, FIRST_DECAY, SECOND_DECAY
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State
from tellback.specs import Count, NonNegative, Positive


@dataclass(frozen=True)
class MixtureByAdam(ModelSpec):
    """Gradient steps on theta after every description.

    Parameters
    ----------
    learning_rate : float
        Adam's; the paper's is 0.001.
    steps : int
        Full-history steps per description. The paper does not give a number.
    start : float
        The standard deviation of the normal draws of the first theta. The paper does not give
        it: 0 makes every column of F uniform, 1 is that of PyTorch's ``randn``.
    """

    version: ClassVar[int] = 2  # compiled: the last bits differ from PyTorch's

    learning_rate: Positive = 0.001
    steps: Count = 1
    start: NonNegative = 0.0

    def build(self, facts: Facts, rng: np.random.Generator) -> MixtureByAdamModel:
        """A model without data."""
        shape = demand_table(self.kind, facts), facts.dim
        theta = self.start * rng.standard_normal(shape) if self.start else np.zeros(shape)
        return MixtureByAdamModel(*shape, self.learning_rate, self.steps, theta)


class MixtureByAdamModel:
    """A live mixture fitted by Adam; the first theta is 0 by default."""

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
        self._counts = Counts(instructions, dim)
        self._theta: Array = np.zeros(shape) if theta is None else theta
        self._first, self._second = np.zeros(shape), np.zeros(shape)
        self._steps_done = 0
        self._gradient = np.empty(shape)
        self._f = np.empty(shape)
        self._update_f()

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
        self._counts.add(checked_instruction(description, len(self._f)), features)
        self.climb(self._steps)

    def climb(self, steps: int) -> None:
        """Take steps of Adam on the mean log-likelihood of all descriptions."""
        counts = self._counts
        total = float(counts.counts.sum())
        for _ in range(steps):
            self._steps_done += 1
            _slope(self._f, counts.links, counts.numbers, counts.size, total, self._gradient)
            _step(
                self._theta,
                self._gradient,
                self._first,
                self._second,
                self._learning_rate / (1 - FIRST_DECAY**self._steps_done),
                1 / np.sqrt(1 - SECOND_DECAY**self._steps_done),
            )
            self._update_f()

    def _update_f(self) -> None:
        """F from theta. numpy's exponential is vectorised, numba's is not."""
        _below_highest(self._theta, self._f)
        np.exp(self._f, out=self._f)
        _normalise(self._f)

    def log_likelihood(self) -> float:
        """The sum over descriptions of log f-hat(x') . g(y, s)."""
        return self._counts.log_likelihood(self._f)

    def state(self) -> State:
        """The history, theta, and Adam's moments."""
        return {
            **self._counts.state(),
            "theta": self._theta.copy(),
            "first_moment": self._first.copy(),
            "second_moment": self._second.copy(),
            "adam_steps": self._steps_done,
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        names = ("theta", "first_moment", "second_moment")
        saved = [saved_array(state, name, self._f.shape) for name in names]
        done = whole("adam_steps", state["adam_steps"], at_least=0)
        self._counts.restore(state)
        self._theta, self._first, self._second = saved
        self._steps_done = done
        self._update_f()


@compiled_freely
def _below_highest(theta: Array, below: Array) -> None:
    """Theta minus the highest value of its column: 0 or less."""
    highest = theta[0].copy()
    for x in range(len(theta)):
        for i in range(theta.shape[1]):
            highest[i] = theta[x, i] if theta[x, i] > highest[i] else highest[i]
    for x in range(len(theta)):
        for i in range(theta.shape[1]):
            below[x, i] = theta[x, i] - highest[i]


@compiled_freely
def _normalise(f: Array) -> None:
    """Scale every column to sum to 1."""
    totals = np.zeros(f.shape[1])
    for x in range(len(f)):
        for i in range(f.shape[1]):
            totals[i] += f[x, i]
    scales = 1 / totals
    for x in range(len(f)):
        for i in range(f.shape[1]):
            f[x, i] *= scales[i]


@compiled_freely
def _slope(
    f: Array, links: Indices, numbers: Array, size: int, total: float, gradient: Array
) -> None:
    """The derivative of minus the mean log-likelihood by theta."""
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
    """One step of Adam; the learning rate and the scale include the bias correction."""
    at, slope, m, v = theta.ravel(), gradient.ravel(), first.ravel(), second.ravel()
    for i in range(len(at)):
        m[i] = FIRST_DECAY * m[i] + (1 - FIRST_DECAY) * slope[i]
        v[i] = SECOND_DECAY * v[i] + (1 - SECOND_DECAY) * slope[i] * slope[i]
        at[i] -= rate * m[i] / (np.sqrt(v[i]) * scale + EPSILON)
