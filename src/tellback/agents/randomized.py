"""Explorers that draw a response from stated probabilities."""

from __future__ import annotations

import numpy as np

from tellback.agents.explorers import Stateless, not_finite
from tellback.arrays import Array
from tellback.compiled import compiled
from tellback.models.model import Model
from tellback.roles import Choice, Task
from tellback.ties import tie_probabilities


class Randomized(Stateless):
    """The base of such explorers: each states the probability of every response.

    Parameters
    ----------
    ties : "random" or "first"
        Whether equally good responses share their probability, or the first has all of it.
    """

    stated = True
    """Whether the probability of a choice is worth stating."""

    def __init__(self, ties: str) -> None:
        self._random = ties == "random"

    def probabilities(
        self, task: Task, model: Model, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """The estimate of every response, and its probability of being chosen."""
        raise NotImplementedError

    def choose(self, task: Task, model: Model, rng: np.random.Generator) -> Choice:
        """A response drawn from the probabilities."""
        estimates, probabilities = self.probabilities(task, model, rng)
        response = drawn(probabilities, rng.random())
        if response < 0:
            raise not_finite(model)
        features, estimate = task.responses.features(response), estimates.item(response)
        propensity = min(probabilities.item(response), 1.0) if self.stated else None
        return Choice(response, features, estimate, 0.0, propensity)


@compiled
def drawn(probabilities: Array, u: float) -> int:
    """The response at which the running sum of probabilities exceeds u, uniform on [0, 1).

    -1 if any probability is not a number.
    """
    response = -1
    for y in range(len(probabilities)):
        if not probabilities[y] >= 0.0:
            return -1
        if probabilities[y] > 0.0 and u >= 0.0:  # rounding must not end at one that cannot be drawn
            response = y
            u -= probabilities[y]
    return response


@compiled
def votes(ballots: Array, random: bool) -> Array:
    """The share of the rows in which each response is the highest; ties share a vote."""
    shares = np.zeros(ballots.shape[1])
    for row in range(len(ballots)):
        shares += tie_probabilities(ballots[row], random)
    return shares / len(ballots)
