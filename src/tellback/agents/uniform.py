"""The baseline that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.agents.agent import ModelAgent
from tellback.agents.explorers import UniformSampling
from tellback.arrays import Array
from tellback.models.states import NothingLearned
from tellback.responses import Listed
from tellback.roles import AgentSpec, Facts, Instruction


@dataclass(frozen=True)
class Uniform(AgentSpec):
    """Responses drawn uniformly at random: the paper's Random."""

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        """An agent without a model."""
        return ModelAgent(Ignorance(), UniformSampling(), self, facts)


class Ignorance(NothingLearned):
    """The model of an agent that has none."""

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """Unknown."""
        return np.full(len(responses), np.nan)

    def learn(self, features: Array, description: Instruction) -> None:
        """Nothing to learn."""
