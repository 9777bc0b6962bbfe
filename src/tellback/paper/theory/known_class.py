"""The exact setting of Theorem 2: a finite class that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tellback.agents import LORIL, Certified, Greedy, Printed, Repaired
from tellback.lab.bounds import Bound, regret_bounds
from tellback.models import FiniteClass
from tellback.roles import AgentSpec
from tellback.worlds import Realizable

DELTA = 0.05


@dataclass(frozen=True)
class KnownClass:
    """A realizable world, its class, and the theory's radii and bounds for them."""

    world: Realizable
    delta: float = DELTA  # the probability with which the theory may fail

    @property
    def model(self) -> FiniteClass:
        """The class, as an agent knows it."""
        return FiniteClass(self.world.size, self.world.class_seed, self.world.temperature)

    @property
    def log_size(self) -> float:
        """log |F|."""
        return math.log(self.world.size)

    @property
    def B(self) -> float:  # noqa: N802
        """The bound on the length of f(x) and g(y)."""
        return self.model.bound(self.world.instructions, self.world.rank)

    def agents(self) -> dict[str, AgentSpec]:
        """Algorithm 1 as printed and repaired, and greedy with a certificate."""
        settings = self.delta, self.log_size, self.B
        return {
            "LORIL as printed": LORIL.as_printed(*settings, model=self.model),
            "LORIL repaired": LORIL.as_repaired(*settings, model=self.model),
            "greedy, certified": Certified(Greedy(model=self.model), k=Repaired(*settings)),
        }

    def radii(self) -> tuple[Printed, Repaired]:
        """Both radii."""
        settings = self.delta, self.log_size, self.B
        return Printed(*settings), Repaired(*settings)

    def bounds(self) -> dict[str, Bound]:
        """Theorem 2 for LORIL with this class, printed and repaired."""
        return regret_bounds(self.world.facts, self.agents()["LORIL repaired"])
