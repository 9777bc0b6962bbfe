"""Inverse-gap weighting: the worse a response seems, the more rarely it is tried."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from tellback.agents.agent import ModelAgentSpec
from tellback.agents.explorers import Explorer
from tellback.agents.randomized import Randomized
from tellback.agents.spanner import barycentric_spanner, exchange
from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import one_of, whole
from tellback.models.model import Model, estimates_of
from tellback.responses import Listed
from tellback.roles import Facts, State, Task
from tellback.specs import NonNegative
from tellback.ties import tie_probabilities

C = 2.0
"""How large the coefficients of the spanner may be."""


@dataclass(frozen=True)
class InverseGap(ModelAgentSpec):
    """Every response with a probability that falls as its gap to the best estimate grows.

    With ``tried="all"`` this is SquareCB (Foster and Rakhlin 2020): response y has probability
    1 / (K + gamma (highest estimate - estimate of y)), and the best seeming has the rest. Of
    thousands of responses that is too much chance. With ``tried="spanner"`` it is SpannerIGW
    (Zhu, Foster, Langford and Mineiro 2022): only the n <= d members of a barycentric spanner
    of the features are tried, each row divided by sqrt(1 + eta gap) beforehand so that
    members seem good too, each with probability 1 / (2 n (1 + eta gap)); at least half goes to
    the best seeming. (They normalise all by a common factor. Here the best has the rest, as
    in SquareCB, which has the same two properties that their proof needs.)

    Any model will do. Propensities are exact.

    Parameters
    ----------
    scale : float
        gamma_t = scale sqrt(K t) and eta_t = scale sqrt(t / n): the forms that the theory has,
        t - 1 being the number of descriptions, so that no horizon is needed. Larger explores
        less.
    tried : "all" or "spanner"
        Which responses are tried beside the best.
    model, ties
        As in every agent with a model.
    """

    scale: NonNegative = 30.0
    tried: Annotated[str, partial(one_of, options=("all", "spanner"))] = "all"

    def explorer(self, facts: Facts) -> Explorer:
        """Inverse-gap weights."""
        kind = SpannerWeights if self.tried == "spanner" else GapWeights
        return kind(self.scale, self.ties)


class GapWeights(Randomized):
    """SquareCB's probabilities."""

    def __init__(self, scale: float, ties: str) -> None:
        super().__init__(ties)
        self._scale = scale
        self._count = 0

    def probabilities(
        self, task: Task, model: Model, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """1 / (K + gamma gap), and the rest for the best."""
        estimates = estimates_of(model, task)
        everyone = np.arange(len(estimates))
        return estimates, _weighed(estimates, everyone, 1.0, self._eta(len(everyone)), self._random)

    def _eta(self, tried: int) -> float:
        """How much a gap counts: gamma / K, or eta of SpannerIGW."""
        return self._scale * math.sqrt((self._count + 1) / max(tried, 1))

    def learn(self, features: Array) -> None:
        """One more description."""
        self._count += 1

    withdraws = True

    def withdraw(self, features: Array) -> None:
        """One description less."""
        self._count -= 1

    def state(self) -> State:
        """The number of descriptions."""
        return {"count": self._count}

    def restore(self, state: State) -> None:
        """Go back to such a state."""
        self._count = whole("count", int(state["count"]), at_least=0)


class SpannerWeights(GapWeights):
    """SpannerIGW's probabilities.

    The spanner of the features as they are is kept for responses that come again; from it a
    few exchanges lead to that of the features with gaps. Kept or not, the result is the same.
    """

    def __init__(self, scale: float, ties: str) -> None:
        super().__init__(scale, ties)
        self._cached: tuple[Listed | None, Indices, Array] = (None, np.empty(0, int), np.empty(0))

    def probabilities(
        self, task: Task, model: Model, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """1 / (2 n (1 + eta gap)) for the members of the spanner, and the rest for the best."""
        responses = task.responses
        estimates = estimates_of(model, task)
        if responses is not self._cached[0]:
            self._cached = (responses, *barycentric_spanner(responses.matrix, C))
        _, members, coefficients = self._cached
        eta = self._eta(len(members))
        tried = _spanner_with_gaps(estimates, coefficients, members, eta)
        return estimates, _weighed(estimates, tried, 0.5, eta, self._random)


@compiled
def _weighed(estimates: Array, tried: Indices, weight: float, eta: float, random: bool) -> Array:
    """weight / (n (1 + eta gap)) for the n that are tried, and the rest for the best."""
    best = tie_probabilities(estimates, random)
    highest = estimates.max()
    probabilities = np.zeros(len(estimates))
    rest = 1.0
    for y in tried:
        if not best[y] > 0.0:
            gap = highest - estimates[y]
            probabilities[y] = weight / (len(tried) * (1.0 + eta * gap))
            rest -= probabilities[y]
    return probabilities + max(rest, 0.0) * best


@compiled
def _spanner_with_gaps(
    estimates: Array, coefficients: Array, members: Indices, eta: float
) -> Indices:
    """The spanner of g / sqrt(1 + eta gap), beginning from that of g."""
    shrunk = 1.0 / np.sqrt(1.0 + eta * (estimates.max() - estimates))
    with_gaps = coefficients * shrunk
    for i in range(len(members)):
        with_gaps[i] /= shrunk[members[i]]
    tried = members.copy()
    exchange(with_gaps, tried, C)
    return tried
