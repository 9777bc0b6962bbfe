"""The mixture fitted as in the paper: Adam on theta, where F is the softmax of its columns.

The model class and the likelihood are those of ``Mixture``, for comparing the two optimisers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.errors import whole
from tellback.models.adam_kernels import EIGHT, climb
from tellback.models.counts import Counts
from tellback.models.model import ModelSpec, checked_instruction, demand_distributions, demand_table
from tellback.models.states import saved_array
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

    version: ClassVar[int] = 3  # compiled, in vectors: the last bits differ from PyTorch's

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
        self._f = _with_room(shape)
        self._rows: Array = np.zeros((0, -(-dim // EIGHT) * EIGHT))  # the entries' features
        self._known = 0  # entries of which they are
        self._climb(0)

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
        self._climb(steps)
        self._steps_done += steps

    def _climb(self, steps: int) -> None:
        """Take steps; F is that of the last theta."""
        counts = self._counts
        if counts.size > len(self._rows):
            more = np.zeros((max(256, counts.size), self._rows.shape[1]))
            self._rows = np.concatenate([self._rows, more])
        new = slice(self._known, counts.size)
        self._rows[new, : self._f.shape[1]] = counts.features[new]
        self._known = counts.size
        climb(
            (self._theta, self._first, self._second, self._f),
            (counts.first, counts.links, self._rows[: counts.size], counts.counts.copy()),
            self._learning_rate,
            self._steps_done,
            steps,
        )

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
        self._steps_done, self._known = done, 0
        self._climb(0)


def _with_room(shape: tuple[int, int]) -> Array:
    """An array whose last row can be read in whole vectors."""
    return np.zeros(shape[0] * shape[1] + EIGHT)[: shape[0] * shape[1]].reshape(shape)
