"""A synthetic world with F in a known finite class (Assumption 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.roles import Facts, Simulation, WorldSpec
from tellback.specs import Count, Natural
from tellback.streams import CLASS_STREAM, Streams
from tellback.theory import softmax_class
from tellback.worlds.synthetic import Synthetic, Temperature


@dataclass(frozen=True)
class Realizable(WorldSpec):
    """The setting of Theorem 2: the truth is a member of a class that the agent knows.

    ``models.FiniteClass`` with the same size, seed and temperature is that class. The truth is
    drawn from its members by the run's seed.

    Parameters
    ----------
    instructions, responses, rank, temperature
        As in ``Synthetic``.
    size : int
        |F|.
    class_seed : int
        The seed from which the members are drawn.
    """

    instructions: Count = 10
    responses: Count = 50
    rank: Count = 4
    temperature: Temperature = 0.75
    size: Count = 64
    class_seed: Natural = 0

    @property
    def facts(self) -> Facts:
        """The sizes."""
        return self._low_rank.facts

    @property
    def _low_rank(self) -> Synthetic:
        return Synthetic(self.instructions, self.responses, self.rank, self.temperature)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Draw a member of the class, and the features."""
        members = softmax_class(
            self.size,
            self.instructions,
            self.rank,
            self.temperature,
            Streams(self.class_seed).init(CLASS_STREAM),
        )
        which = int(rng.integers(self.size))
        low_rank = self._low_rank
        return low_rank.with_f(members[which], [low_rank.draw_responses(rng)])
