"""Optimism by the information that descriptions hold on the instruction that is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.agents.agent import ModelAgentSpec
from tellback.agents.explorers import Explorer, not_finite, optimistic_choice
from tellback.arrays import Array
from tellback.compiled import compiled
from tellback.errors import SettingError, real
from tellback.models.ellipsoid import LOWEST_RIDGE, demand_short
from tellback.models.model import Model
from tellback.responses import Listed
from tellback.roles import Choice, Facts, State, Task


@dataclass(frozen=True)
class Fisher(ModelAgentSpec):
    """Estimate plus k times its standard error, that of this instruction and no other.

    Sigma counts a description the same for every instruction. But whether a response with
    features g is described as x is the toss of a coin with p = f(x) . g, and such a toss
    tells of f(x) the Fisher information g g' / (p (1 - p)): much where p is near 0 or 1,
    whether x was said or not. So the bonus of a response is k sqrt(g' I(x)^-1 g) with

        I(x) = lam I + sum over descriptions of g g' / max(p (1 - p), floor),

    p being the model's *present* estimate for x at the described features. It is worked out
    anew in each round, for the instruction that is asked for, from the distinct features
    that were described and their counts: O(D d^2 + K d^2) for D of them, at most |Y| where
    responses stay the same, and one a description where they are new every round. For a
    model that is not linear in the features, no theory supports it.

    Parameters
    ----------
    k : float
        The weight of the bonus.
    lam : float
        The information there was beforehand, on each component.
    floor : float
        The lowest variance of a description, at most 1/4. An estimate of 0 must not count
        as certain.
    model, ties
        As in every agent with a model.
    """

    k: float = 1.0
    lam: float = 1.0
    floor: float = 0.15

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_validated(
            k=real("k", self.k, at_least=0),
            lam=real("lam", self.lam, at_least=LOWEST_RIDGE),
            floor=real("floor", self.floor, above=0, at_most=0.25),
        )

    def explorer(self, facts: Facts) -> Explorer:
        """The standard errors."""
        return Information(facts.dim, self.k, self.lam, self.floor, self.ties)


class Information:
    """Optimism under I(x) instead of Sigma.

    Parameters
    ----------
    dim : int
        d.
    k, lam, floor, ties
        As in ``Fisher``.
    """

    propensities = "exact"

    def __init__(self, dim: int, k: float, lam: float, floor: float, ties: str) -> None:
        self._dim = dim
        self._k, self._lam, self._floor = k, lam, floor
        self._random = ties == "random"
        self._counts: dict[bytes, int] = {}  # of the distinct features, as they came
        self._listed: Listed | None = None  # those features, unless another has come since

    @property
    def caveat(self) -> str:
        """Why its widths prove nothing."""
        return f"k = {self._k:g} was chosen and not derived"

    def choose(self, task: Task, model: Model, rng: np.random.Generator) -> Choice:
        """The response with the highest estimate plus k standard errors."""
        estimates = model.estimates(task.instruction, task.responses)
        widths = self.squared_widths(task, model)
        choice = optimistic_choice(task, estimates, widths, self._k, self._random, rng)
        if choice is None:
            raise not_finite(model)
        return choice

    def squared_widths(self, task: Task, model: Model) -> Array:
        """g' I(x)^-1 g for every response of a task."""
        if task.responses.dim != self._dim:
            raise SettingError(
                f"responses must have {self._dim} features each, not {task.responses.dim}."
            )
        demand_short(task.responses, self._lam)
        described, counts = self._described()
        if described is None:
            information = np.zeros((self._dim, self._dim))
        else:
            p = model.estimates(task.instruction, described)
            weights = counts / np.maximum(p * (1 - p), self._floor)
            information = _weighted_gram(described.columns, weights)
        return _squared_widths(information, self._lam, task.responses.columns)

    def _described(self) -> tuple[Listed | None, Array]:
        """The distinct features that were described, and how often each was."""
        counts = np.array(list(self._counts.values()), dtype=np.float64)
        if self._listed is None and self._counts:
            rows = np.frombuffer(b"".join(self._counts)).reshape(-1, self._dim)
            self._listed = Listed(rows)
        return self._listed, counts

    def bonuses(self, responses: Listed) -> Array:
        """Unknown, without an instruction."""
        return np.full(len(responses), np.nan)

    def learn(self, features: Array) -> None:
        """Count the features."""
        if features.shape != (self._dim,) or not np.isfinite(features).all():
            raise SettingError(f"features must be {self._dim} finite numbers, not {features}.")
        key = (np.asarray(features, dtype=np.float64) + 0.0).tobytes()  # -0.0 equals 0.0
        if key not in self._counts:
            self._counts[key], self._listed = 0, None
        self._counts[key] += 1

    def state(self) -> State:
        """The distinct features and their counts."""
        rows = np.frombuffer(b"".join(self._counts)).reshape(-1, self._dim)
        return {"features": rows.copy(), "counts": np.array(list(self._counts.values()), dtype=int)}

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        rows = np.array(state["features"], dtype=np.float64)
        counts = np.asarray(state["counts"])
        fits = rows.shape == (len(counts), self._dim) and counts.ndim == 1
        if not fits or not np.isfinite(rows).all() or not (counts >= 1).all():
            raise SettingError(
                f"The saved descriptions, features of shape {rows.shape} and {len(counts)} "
                f"counts, do not fit features of size {self._dim}, or are not possible."
            )
        self._counts = {row.tobytes(): int(n) for row, n in zip(rows, counts, strict=True)}
        self._listed = None


@compiled
def _weighted_gram(columns: Array, weights: Array) -> Array:
    """The sum of w g g' over the columns g."""
    dim, rows = columns.shape
    gram = np.zeros((dim, dim))
    for i in range(dim):
        weighted = weights * columns[i]
        for j in range(i + 1):
            total = 0.0
            for y in range(rows):
                total += weighted[y] * columns[j, y]
            gram[i, j] = gram[j, i] = total
    return gram


@compiled
def _squared_widths(information: Array, lam: float, columns: Array) -> Array:
    """g' (information + lam I)^-1 g for every column g: the squared length of L^-1 g."""
    dim, responses = columns.shape
    inverse = _inverse_root(information, lam)
    widths = np.zeros(responses)
    along = np.empty(responses)
    for i in range(dim):
        along[:] = 0.0
        for j in range(i + 1):
            for y in range(responses):
                along[y] += inverse[i, j] * columns[j, y]
        for y in range(responses):
            widths[y] += along[y] * along[y]
    return widths


@compiled
def _inverse_root(information: Array, lam: float) -> Array:
    """L^-1 with L L' = information + lam I (Cholesky)."""
    dim = len(information)
    root, inverse = np.zeros((dim, dim)), np.zeros((dim, dim))
    for i in range(dim):
        for j in range(i + 1):
            left = information[i, j] + (lam if i == j else 0.0)
            for k in range(j):
                left -= root[i, k] * root[j, k]
            # No pivot is below lam, were it not for rounding.
            root[i, j] = np.sqrt(max(left, lam)) if i == j else left / root[j, j]
    for i in range(dim):
        for j in range(i + 1):
            left = 1.0 if i == j else 0.0
            for k in range(j, i):
                left -= root[i, k] * inverse[k, j]
            inverse[i, j] = left / root[i, i]
    return inverse
