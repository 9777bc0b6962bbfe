"""F and G learned together, by EM: the paper's open case, in which g is not known.

P(x | y) = sum over d components of F[x, i] G[i, y], both factors unknown: a response draws a
component, the component an instruction. With documents as responses and words as instructions,
this is probabilistic latent semantic analysis (Hofmann 1999); with a prior on both factors, latent
Dirichlet allocation (Blei, Ng and Jordan 2003). The order of the components is arbitrary. The
likelihood has many maxima, so the start matters a little. A full sweep never lowers the penalised
likelihood.

The history is a table of counts, one row per response. A description refreshes its own response,
and a fixed number of others in turn. After a turn of all responses, F is replaced. So the cost of
a round does not grow with the history.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import SettingError, whole
from tellback.models.model import ModelSpec, checked_instruction, demand_distributions, demand_table
from tellback.models.states import demand_size, saved_array
from tellback.responses import SIMPLEX_TOLERANCE, Listed
from tellback.roles import Facts, Instruction, State
from tellback.specs import Count, Positive

OWN_STEPS = 2
"""EM steps on the described response; the others take one when it is their turn."""

ROUGHNESS = 0.1
"""The deviation of the first factors from uniform: equal components would stay equal."""


@dataclass(frozen=True)
class LowRank(ModelSpec):
    """The low-rank estimate of P(x | y) for responses with one-hot features.

    Features that are distributions over several coordinates are allowed. A description then
    counts for each coordinate by its probability given the description. G has one column per
    coordinate.

    Parameters
    ----------
    rank : int
        d, the number of components. Too many cost less than too few.
    smooth : float
        Pseudo-counts of every instruction in every component.
    spread : float
        Pseudo-counts of each response, in equal parts from all components.
    refresh : int
        The number of other responses that a description refreshes, in turn.
    """

    rank: Count = 10
    smooth: Positive = 0.5
    spread: Positive = 2.0
    refresh: Count = 20

    def build(self, facts: Facts, rng: np.random.Generator) -> LowRankModel:
        """Two factors that are almost uniform."""
        return LowRankModel(self, demand_table(self.kind, facts), facts.dim, rng)


class LowRankModel:
    """A live low-rank model.

    Parameters
    ----------
    spec : LowRank
        The settings.
    instructions, dim : int
        |X|, and the number of coordinates, mostly |Y|.
    rng : numpy.random.Generator
        For the first factors.
    """

    inexact: ClassVar[str] = "its fit is a local maximum of the likelihood, and near it at best"

    def __init__(
        self, spec: LowRank, instructions: int, dim: int, rng: np.random.Generator
    ) -> None:
        self._spec = spec
        self._shape = (dim,)
        self._counts = np.zeros((dim, instructions))  # a row per response, for memory order
        self._f = _rough(rng, instructions, spec.rank, axis=0)
        self._g = _rough(rng, dim, spec.rank, axis=1)
        self._expected = np.full_like(self._f, spec.smooth)  # sums of this turn
        self._turn = np.zeros(1, dtype=np.int64)
        self._accepted: Listed | None = None  # the last responses that passed the check
        self._coordinates: Indices | None = None  # of the accepted responses, if one-hot

    @property
    def f(self) -> Array:
        """F-hat: its columns are distributions over the instructions."""
        return self._f.copy()

    @property
    def g(self) -> Array:
        """G-hat: its columns are distributions over the components."""
        return self._g.T.copy()

    @property
    def described(self) -> int:
        """The number of descriptions learned."""
        return round(float(self._counts.sum()))

    def represent(self, features: Array) -> Array:
        """g-hat of every row of features, a row each."""
        mixed: Array = features @ self._g
        return mixed

    def representation(self, responses: Listed) -> Array:
        """g-hat of every listed response, a row each."""
        if responses is not self._accepted:
            self._accept(responses)
        if self._coordinates is not None:
            rows: Array = self._g[self._coordinates]
            return rows
        return self.represent(responses.matrix)

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g-hat(y) for every listed response y."""
        x = checked_instruction(instruction, len(self._f))
        estimates: Array = self.representation(responses) @ self._f[x]
        return estimates

    def _accept(self, responses: Listed) -> None:
        demand_distributions("low-rank", responses, self._shape[0])
        matrix = responses.matrix
        one_hot = bool(((matrix == 0) | (matrix == 1)).all())
        self._coordinates = matrix.argmax(axis=1) if one_hot else None
        self._accepted = responses

    def learn(self, features: Array, description: Instruction) -> None:
        """Count the description; refresh its response and some others."""
        x = checked_instruction(description, len(self._f))
        features = np.asarray(features, dtype=np.float64)
        demand_size(features, self._shape[0])
        if not features.min() >= 0 or not abs(features.sum() - 1) <= SIMPLEX_TOLERANCE:
            raise SettingError(f"features must be non-negative and sum to 1, not {features}.")
        _learn(
            x,
            features,
            self._counts,
            self._f,
            self._g,
            self._expected,
            self._turn,
            self._spec.smooth,
            self._spec.spread / self._spec.rank,
            self._spec.refresh,
        )

    def sweep(self, times: int = 1) -> None:
        """Take full EM steps on both factors: the penalised likelihood never falls."""
        smooth, part = self._spec.smooth, self._spec.spread / self._spec.rank
        for _ in range(times):
            expected = np.full_like(self._f, smooth)
            for y in range(len(self._counts)):
                _step(self._counts[y], self._f, self._g[y], part, expected)
            self._f[:] = expected / expected.sum(axis=0)
        self._expected[:] = smooth
        self._turn[:] = 0

    def log_likelihood(self) -> float:
        """The sum over descriptions of log f-hat(x') . g-hat(y)."""
        described = self._counts > 0
        return float((self._counts[described] * np.log((self._g @ self._f.T)[described])).sum())

    def penalised(self) -> float:
        """The log-likelihood plus the log of the Dirichlet priors, up to a constant.

        The pseudo-counts are the weights of the logarithms in the priors.
        """
        part = self._spec.spread / self._spec.rank
        prior = self._spec.smooth * np.log(self._f).sum() + part * np.log(self._g).sum()
        return self.log_likelihood() + float(prior)

    def state(self) -> State:
        """The counts, both factors, and the position in the turn."""
        return {
            "counts": self._counts.copy(),
            "f": self._f.copy(),
            "g": self._g.copy(),
            "expected": self._expected.copy(),
            "turn": int(self._turn[0]),
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        own = {"counts": self._counts, "f": self._f, "g": self._g, "expected": self._expected}
        saved = {
            name: saved_array(state, name, array.shape, least=0) for name, array in own.items()
        }
        if not np.allclose(saved["f"].sum(axis=0), 1) or not np.allclose(saved["g"].sum(axis=1), 1):
            raise SettingError("The saved factors are not distributions.")
        turn = whole("turn", int(state["turn"]), at_least=0)
        for name, values in saved.items():
            own[name][:] = values
        self._turn[0] = min(turn, len(self._counts) - 1)


def _rough(rng: np.random.Generator, rows: int, rank: int, axis: int) -> Array:
    """A factor, almost uniform along an axis."""
    factor = 1 + ROUGHNESS * rng.random((rows, rank))
    rough: Array = factor / factor.sum(axis=axis, keepdims=True)
    return rough


@compiled
def _step(counts: Array, f: Array, g: Array, part: float, expected: Array) -> None:
    """One EM step on g(y), adding to the expected number of (instruction, component) pairs."""
    instructions, rank = f.shape
    drawn = np.full(rank, part)
    for x in range(instructions):
        if counts[x] > 0.0:
            probability = 0.0
            for i in range(rank):
                probability += f[x, i] * g[i]
            weight = counts[x] / probability
            for i in range(rank):
                times = weight * f[x, i] * g[i]
                drawn[i] += times
                expected[x, i] += times
    total = drawn.sum()
    for i in range(rank):
        g[i] = drawn[i] / total


@compiled
def _learn(
    x: int,
    features: Array,
    counts: Array,
    f: Array,
    g: Array,
    expected: Array,
    turn: Indices,
    smooth: float,
    part: float,
    refresh: int,
) -> None:
    dim = len(features)
    probabilities = np.zeros(dim)
    own = 0
    for y in range(dim):
        if features[y] > 0.0:
            for i in range(f.shape[1]):
                probabilities[y] += f[x, i] * g[y, i]
            probabilities[y] *= features[y]
            if probabilities[y] > probabilities[own]:
                own = y
    probabilities /= probabilities.sum()  # exactly 1 at the one coordinate of one-hot features
    for y in range(dim):
        counts[y, x] += probabilities[y]
    unused = np.zeros_like(expected)
    for _ in range(OWN_STEPS):
        _step(counts[own], f, g[own], part, unused)
    for _ in range(refresh):
        y = turn[0]
        _step(counts[y], f, g[y], part, expected)
        turn[0] += 1
        if turn[0] == dim:
            turn[0] = 0
            for i in range(f.shape[1]):
                f[:, i] = expected[:, i] / expected[:, i].sum()
            expected[:] = smooth
