"""The worlds of the lower bound: K responses, one of them slightly better (Theorem 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from tellback.errors import SettingError, one_of, whole
from tellback.responses import Listed
from tellback.roles import Facts, Simulation, WorldSpec
from tellback.specs import Count
from tellback.theory import FORMS, demand_conditions, hard_gap
from tellback.worlds.synthetic import Synthetic

A, B = 0, 1
"""The two instructions."""


@dataclass(frozen=True)
class Hard(WorldSpec):
    """World W_i of Theorem 1, or the empty world.

    Instructions A and B are asked with equal probability. Every response is described as either
    with probability 1/2, except response i: it is described as A with probability 1/2 + gap.
    Features are one-hot: descriptions of one response say nothing about another.

    Parameters
    ----------
    responses : int
        K.
    horizon : int
        T. The gap is chosen so that T rounds are just too few to find it.
    better : int, "drawn" or "none"
        i; drawn from the run's seed; or the empty world, without a better response.
    gap : "repaired" or "printed"
        sqrt(K / T) / 4, for which the theorem's argument holds, or the paper's sqrt(K / T).
    """

    responses: Count = 32
    horizon: Count = 1000
    better: int | str = "drawn"
    gap: Annotated[str, partial(one_of, options=FORMS)] = "repaired"

    def __post_init__(self) -> None:
        super().__post_init__()
        demand_conditions(self.responses, self.horizon, self.gap, called="horizon")
        if isinstance(self.better, str):
            one_of("better", self.better, ["drawn", "none"])
            return
        self._set_validated(better=whole("better", self.better, at_least=0))
        if self.better >= self.responses:
            raise SettingError(f"better must be below {self.responses}, not {self.better}.")

    @property
    def facts(self) -> Facts:
        """Two instructions, and as many features as responses."""
        return self._table.facts

    @property
    def _table(self) -> Synthetic:
        """The same as a low-rank world, with d = |Y| and G the identity."""
        return Synthetic(instructions=2, responses=self.responses, rank=self.responses)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Set up the table of probabilities."""
        f = np.full((2, self.responses), 0.5)
        i = int(rng.integers(self.responses)) if self.better == "drawn" else self.better
        if isinstance(i, int):
            gap = hard_gap(self.responses, self.horizon, self.gap)
            f[A, i] += gap
            f[B, i] -= gap
        return self._table.with_f(f, [Listed(np.eye(self.responses))])
