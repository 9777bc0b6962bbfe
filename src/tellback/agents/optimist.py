"""Optimistic agents with constant k and lambda that are not a model and an explorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.agents.explorers import optimistic_choice
from tellback.arrays import Array
from tellback.models.ellipsoid import Lambda
from tellback.roles import AgentSpec, Choice, Task
from tellback.specs import NonNegative
from tellback.ties import Ties


@dataclass(frozen=True)
class OptimistSpec(AgentSpec):
    """The base of such agents.

    Parameters
    ----------
    k : float
        The weight of the bonus.
    lam : float
        lambda, the ridge.
    ties : "random" or "first"
        How to choose among equally good responses.
    """

    abstract: ClassVar[bool] = True

    k: NonNegative = 0.1
    lam: Lambda = 1.0
    ties: Ties = "random"

    def choose(
        self, task: Task, estimates: Array, squared_widths: Array, rng: np.random.Generator
    ) -> Choice:
        """The response with the highest estimate plus k times its width."""
        random = self.ties == "random"
        return optimistic_choice(task, estimates, squared_widths, self.k, random, rng, self)
