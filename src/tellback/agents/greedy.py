"""The paper's baselines that learn: greedy, and greedy with a share of chance."""

from __future__ import annotations

from dataclasses import dataclass

from tellback.agents.agent import ModelAgentSpec
from tellback.agents.explorers import Dithering, Explorer
from tellback.roles import Facts
from tellback.specs import Fraction


@dataclass(frozen=True)
class Greedy(ModelAgentSpec):
    """The response with the highest estimate, always."""

    def explorer(self, facts: Facts) -> Explorer:
        """No exploration."""
        return Dithering(0.0, self.ties)


@dataclass(frozen=True)
class EpsilonGreedy(ModelAgentSpec):
    """Greedy, but with probability epsilon a response at random.

    Parameters
    ----------
    epsilon : float
        From 0 to 1.
    """

    epsilon: Fraction = 0.1

    def explorer(self, facts: Facts) -> Explorer:
        """Dithering."""
        return Dithering(self.epsilon, self.ties)
