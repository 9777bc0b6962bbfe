"""The baseline that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.agents.agent import ModelAgent
from tellback.agents.explorers import UniformSampling
from tellback.arrays import Array
from tellback.models.states import NothingLearned
from tellback.responses import Listed
from tellback.roles import AgentSpec, Choice, Facts, Instruction, Task


@dataclass(frozen=True)
class Uniform(AgentSpec):
    """Responses drawn uniformly at random: the paper's Random."""

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        """An agent without a model."""
        return UniformAgent(Ignorance(), UniformSampling(), self, facts)


class UniformAgent(ModelAgent):
    """A live agent that draws its response, whether all can be listed or not."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """A response at random; an uninformed draw where they cannot be listed."""
        if isinstance(task.responses, Listed):
            return super().respond(task, rng)
        return task.choose(task.responses.draw(1, rng)[0])


class Ignorance(NothingLearned):
    """The model of an agent that has none."""

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """Unknown."""
        return np.full(len(responses), np.nan)

    def learn(self, features: Array, description: Instruction) -> None:
        """Nothing to learn."""
