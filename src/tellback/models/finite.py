"""Maximum likelihood over a finite class F, the setting of the paper's theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, whole
from tellback.models.model import ModelSpec, checked_instruction, demand_distributions, demand_table
from tellback.models.states import demand_size
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State
from tellback.specs import Count, Natural, Positive
from tellback.streams import CLASS_STREAM, Streams
from tellback.theory import softmax_class

ROUNDING = 1e-9
"""The largest difference between two equal F."""


@dataclass(frozen=True)
class FiniteClass(ModelSpec):
    """The most likely member of a known finite class (Algorithm 1, line 3).

    The agent knows the class, as Algorithm 1 requires, but not which member is the truth.
    ``worlds.Realizable`` with the same size, seed and temperature has one of its members.

    Parameters
    ----------
    size : int
        |F|.
    seed : int
        The seed from which the members are drawn.
    temperature : float
        The members are softmaxes of standard Gaussians divided by this.
    """

    size: Count = 64
    seed: Natural = 0
    temperature: Positive = 0.75

    def members(self, instructions: int, dim: int) -> Array:
        """The class: an array of shape (size, instructions, dim)."""
        rng = Streams(self.seed).init(CLASS_STREAM)
        return softmax_class(self.size, instructions, dim, self.temperature, rng)

    def bound(self, instructions: int, dim: int) -> float:
        """B of Assumption 2 with features on the simplex: the largest |f(x)|, at least 1."""
        lengths = np.linalg.norm(self.members(instructions, dim), axis=2)
        return max(1.0, float(lengths.max()))

    def known_class(self, facts: Facts) -> tuple[float, float]:
        """log |F| and B."""
        instructions = demand_table(self.kind, facts)
        return math.log(self.size), self.bound(instructions, facts.dim)

    def build(self, facts: Facts, rng: np.random.Generator) -> FiniteClassModel:
        """All members, equally likely."""
        return FiniteClassModel(self.members(demand_table(self.kind, facts), facts.dim))


class FiniteClassModel:
    """The live class with the log-likelihood of every member.

    ``members`` are of shape (size, instructions, dim).
    """

    def __init__(self, members: Array) -> None:
        self._members = members.view()
        self._members.flags.writeable = False
        self.log_likelihoods = np.zeros(len(members))
        self.described = 0  # the number of descriptions learned
        self._best = 0
        self._accepted: Listed | None = None

    @property
    def size(self) -> int:
        """|F|."""
        return len(self._members)

    def has(self, f: Array) -> bool:
        """Whether F is a member, up to rounding."""
        fits = f.shape == self._members.shape[1:]
        return fits and bool((np.abs(self._members - f).max(axis=(1, 2)) <= ROUNDING).any())

    def likelihood_gap(self) -> float:
        """0: the estimate is the exact maximum over the class."""
        return 0.0

    @property
    def f(self) -> Array:
        """F-hat: the most likely member, the first one under ties."""
        f: Array = self._members[self._best]
        return f

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g(y, s) for every listed response y."""
        _, instructions, dim = self._members.shape
        if responses is not self._accepted:
            demand_distributions("finite-class", responses, dim)
            self._accepted = responses
        x = checked_instruction(instruction, instructions)
        estimates: Array = self._members[self._best, x] @ responses.columns
        return estimates

    def learn(self, features: Array, description: Instruction) -> None:
        """Add the log-probability of the description to every member."""
        _, instructions, dim = self._members.shape
        x = checked_instruction(description, instructions)
        demand_size(features, dim)
        if not (features >= 0).all() or not 0 < features.sum() < np.inf:  # NaN too
            raise SettingError(f"features must be a distribution, not {features}.")
        with np.errstate(divide="ignore"):  # a probability of 0 rules a member out
            self.log_likelihoods += np.log(self._members[:, x] @ features)
        self.described += 1
        self._best = int(self.log_likelihoods.argmax())

    def state(self) -> State:
        """The log-likelihoods and the number of descriptions."""
        return {"log_likelihoods": self.log_likelihoods.copy(), "described": self.described}

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        given = np.array(state["log_likelihoods"], dtype=np.float64)
        if given.shape != self.log_likelihoods.shape or not (given < np.inf).all():
            raise SettingError(
                f"The saved class has log-likelihoods of shape {given.shape}, and this one has "
                f"{len(self.log_likelihoods)} members; all must be numbers below infinity."
            )
        self.described = whole("described", int(state["described"]), at_least=0)
        self.log_likelihoods = given
        self._best = int(given.argmax())
