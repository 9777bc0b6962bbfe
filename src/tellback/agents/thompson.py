"""Thompson sampling: do what would be best if a draw from the posterior were the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from tellback.agents.agent import ModelAgent, ModelAgentSpec
from tellback.agents.explorers import Explorer
from tellback.agents.randomized import Randomized, votes
from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.models.model import Model, Posterior, estimates_of
from tellback.roles import Facts, Task
from tellback.specs import Count, NonNegative


@dataclass(frozen=True)
class Thompson(ModelAgentSpec):
    """The best response to one draw from the posterior (Thompson 1933).

    The model must be able to draw (``models.Posterior``): mixture, ridge and keywords can.

    Parameters
    ----------
    scale : float
        How far draws are stretched from the estimate: 0 is greedy, 1 the posterior itself.
        Proofs ask for more than 1 (Agrawal and Goyal 2013), practice often for less.
    draws : int
        How many draws, one of which is followed. The choice has the same distribution for
        any number; with 1, no propensity is stated, and a round is fastest.
    model, ties
        As in every agent with a model.

    Notes
    -----
    The probability of a response is an integral that nobody knows. What is stated is its
    share s of the m draws, of which one is followed at random: exact given the draws. The
    mean of 1[y is chosen] / s then is 1 - (1 - p)^m, p being the true probability of y. So
    inverse propensity weighting never counts a response for too much on average, and is
    without bias for all but those with p below about 1/m, which it counts for too little. Once
    the posterior is sure, that is all but one, and most logs are refused: to judge other
    agents by a log, log with ``EpsilonGreedy(0.3)``.
    """

    scale: NonNegative = 1.0
    draws: Count = 50

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        """Bring the agent to life; an error if its model cannot draw."""
        agent = super().build(facts, rng)
        if not isinstance(agent.model, Posterior):
            named = self.resolved(facts).model
            raise SettingError(
                f"thompson needs a model with draws() from its posterior, and "
                f"{named.kind if named else agent.model} has none. These have: mixture, ridge, "
                "keywords."
            )
        return agent

    def explorer(self, facts: Facts) -> Explorer:
        """Draws from the posterior."""
        return PosteriorSampling(self.scale, self.draws, self.ties)


class PosteriorSampling(Randomized):
    """Some draws from the model's posterior, one of which is followed."""

    def __init__(self, scale: float, draws: int, ties: str) -> None:
        super().__init__(ties)
        self._scale = scale
        self._draws = draws
        self.stated = draws > 1
        self.propensities = f"exact given {draws} draws" if self.stated else "none are stated"

    def probabilities(
        self, task: Task, model: Model, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """The share of the draws for which each response is the best."""
        posterior = cast(Posterior, model)  # to ask it every round would take longer than the rest
        responses = task.responses
        estimates = estimates_of(model, task)
        ballots = posterior.draws(task.instruction, responses, self._draws, rng)
        if self._scale != 1:
            ballots = estimates + self._scale * (ballots - estimates)
        return estimates, votes(ballots, self._random)
