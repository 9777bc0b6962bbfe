"""LORIL with the bonus in standard deviations of the estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from tellback.agents.agent import ModelAgentSpec
from tellback.agents.explorers import Explorer, Optimism
from tellback.arrays import Array
from tellback.models.mixture import Mixture
from tellback.models.model import ModelSpec, demand_table
from tellback.responses import Listed
from tellback.roles import Facts
from tellback.specs import NonNegative, Positive

WHERE_FIXED, WHERE_CHANGING = 1.2, 0.6
"""How many deviations, where responses stay the same and where every round has others."""

SMOOTHING = 0.2
"""Of the model that is used unless one is named: about what a softmax of Gaussians calls for."""


@dataclass(frozen=True)
class Deviations(ModelAgentSpec):
    """Estimate plus k standard deviations, which shrink where an instruction is rare.

    LORIL's bonus k ||g|| in the norm of Sigma^-1 is the same for every instruction. But
    whether a response is described as x is the toss of a coin with p = f(x) . g, whose
    variance is about p: an estimate near 0 is hardly moved by chance. So the bonus is

        k sqrt((p + 1/|X|) g' Sigma^-1 g),    lambda = |X| / spread,

    p being the estimate; 1/|X| is what p is on average, so that no estimate counts as certain.
    It is the posterior deviation of least squares when f(x) varies around its mean 1/|X| with
    variance spread/|X|^2 beforehand and the noise has variance 1/|X|: lambda is their ratio.
    One pair of settings serves ten instructions and two thousand.

    Parameters
    ----------
    k : float or None
        How many deviations. None stands for 1.2 where every round offers the same responses,
        and for 0.6 where they change, which explores by itself.
    spread : float
        How much f(x) varies from one component to the next, in units of its mean, squared.
    model, ties
        As in every agent with a model; by default a mixture with some smoothing.

    Examples
    --------
    >>> from tellback import play
    >>> from tellback.worlds import Synthetic
    >>> run = play(Synthetic(instructions=5, responses=9, rank=3), Deviations(), 100, seed=1)
    >>> run.caveat
    'k = 1.2 was chosen and not derived'
    """

    version: ClassVar[int] = 2  # many fresh responses: the last bits of widths, by BLAS

    k: NonNegative | None = None
    spread: Positive = 10.0

    def resolved(self, facts: Facts) -> Self:
        """The same agent with its model named, and how many deviations."""
        usual = WHERE_FIXED if facts.fixed_responses else WHERE_CHANGING
        return super().resolved(facts).with_settings({"k": usual if self.k is None else self.k})

    def usual_model(self, facts: Facts) -> ModelSpec:
        """A mixture that rules nothing out."""
        return Mixture(smoothing=SMOOTHING)

    def explorer(self, facts: Facts) -> Explorer:
        """The deviations."""
        k = self.resolved(facts).k
        assert k is not None
        return DeviationBonus(facts, demand_table(self.kind, facts), k, self.spread, self.ties)


class DeviationBonus(Optimism):
    """Optimism whose widths are weighted by the variance of a description."""

    def __init__(self, facts: Facts, instructions: int, k: float, spread: float, ties: str) -> None:
        super().__init__(facts, k, instructions / spread, ties)
        self._floor = 1 / instructions

    def weighted(self, squared_widths: Array, estimates: Array) -> Array:
        """(p + 1/|X|) g' Sigma^-1 g."""
        weighted: Array = (np.maximum(estimates, 0.0) + self._floor) * squared_widths
        return weighted

    def bonuses(self, responses: Listed) -> Array:
        """Unknown, without an instruction."""
        return np.full(len(responses), np.nan)
