"""LORIL where g is learned: the bonus is that of learned features, and of the given ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from tellback.agents.agent import ModelAgent, ModelAgentSpec, part, prefixed
from tellback.agents.explorers import optimistic_choice
from tellback.arrays import Array
from tellback.errors import SettingError, whole
from tellback.models.ellipsoid import Ellipsoid, Lambda
from tellback.models.low_rank import LowRank
from tellback.models.model import Model, Representing, estimates_of
from tellback.models.states import saved_array
from tellback.responses import Listed
from tellback.roles import Choice, Facts, State, Task
from tellback.specs import NonNegative

RAW = "raw."

CHANCE_AGREEMENTS = 2.0
"""k |X|, where k is not given: the bonus is measured by how often two guesses agree."""

ROWS_A_DESCRIPTION = 128
"""How many past features a description maps anew, on average."""


@dataclass(frozen=True)
class LearnedLORIL(ModelAgentSpec):
    """LORIL for a world whose features are not g, but something from which g can be learned.

    The paper leaves this case open. The bonus has two parts: the elliptic width of the learned
    features, as in LORIL, with Sigma summed over the past as it is *now* represented; and the
    same of the given features, because g-hat(y) is itself uncertain where little like y was
    tried. With one-hot features the second is 1 / (lambda + n_y).

    Parameters
    ----------
    k : float or None
        The weight of the bonus; None stands for 2 / |X|.
    lam : float
        lambda, the ridge of both.
    model, ties
        As in every agent with a model; the model must learn a representation. By default
        ``LowRank()``, for one-hot features.
    """

    version: ClassVar[int] = 2  # many fresh responses: the last bits of widths, by BLAS

    k: NonNegative | None = None
    lam: Lambda = 1.0

    def resolved(self, facts: Facts) -> Self:
        """The same agent with its model and the weight of its bonus named."""
        k = CHANCE_AGREEMENTS / (facts.instructions or 1) if self.k is None else self.k
        return self.with_settings({"model": self.model or LowRank(), "k": k})

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        """Bring the model to life, and an explorer that watches what it learns."""
        resolved = self.resolved(facts)
        assert resolved.model is not None
        assert resolved.k is not None
        model = resolved.model.build(facts, rng)
        if not isinstance(model, Representing):
            raise SettingError(
                f"model must learn a representation, as low-rank and network do; "
                f"{resolved.model.kind} takes features as they are: use loril."
            )
        explorer = LearnedOptimism(model, facts, resolved.k, resolved.lam, resolved.ties)
        return ModelAgent(model, explorer, resolved, facts)


class LearnedOptimism:
    """Estimate plus k times the width of what was learned joined with what was given.

    The two are laid side by side as if they were one vector with a Sigma of two blocks.

    Parameters
    ----------
    model : Representing
        Whose representation it is.
    facts : Facts
        What may be known beforehand.
    k, lam : float
        The weight of the bonus, and the ridge.
    ties : "random" or "first"
        How to choose among equally good responses.
    """

    propensities = "exact"

    def __init__(self, model: Representing, facts: Facts, k: float, lam: float, ties: str) -> None:
        self.k = k
        self.raw = Ellipsoid(facts.dim, lam)
        self._model = model
        self._lam = lam
        self._random = ties == "random"
        self._keep = facts.fixed_responses
        self._past = _Past(facts.dim)
        rank = model.represent(np.zeros((0, facts.dim))).shape[1]
        self._sigma = lam * np.eye(rank)
        self._inverse: Array = np.eye(rank) / lam
        self._waiting = 0  # descriptions since Sigma was last summed anew

    @property
    def caveat(self) -> str:
        """Why its widths prove nothing."""
        return f"k = {self.k:g} was chosen and not derived, and the features are learned"

    def choose(self, task: Task, model: Model, rng: np.random.Generator) -> Choice:
        """The response with the highest optimistic estimate."""
        estimates = estimates_of(model, task)
        widths = self._squared_widths(task.responses, self._keep)
        return optimistic_choice(task, estimates, widths, self.k, self._random, rng, model)

    def bonuses(self, responses: Listed) -> Array:
        """k times the width of every listed response."""
        bonuses: Array = self.k * np.sqrt(self._squared_widths(responses, keep=False))
        return bonuses

    def _squared_widths(self, responses: Listed, keep: bool) -> Array:
        learned = self._model.representation(responses)
        of_learned = np.einsum("yi,ij,yj->y", learned, self._inverse, learned, optimize=False)
        of_given = self.raw.squared_widths(responses, keep)
        widths: Array = np.maximum(of_learned, 0.0) + of_given
        return widths

    def learn(self, features: Array) -> None:
        """Add to both Sigmas; now and then sum the learned one anew, from all of the past."""
        self.raw.add(features)
        self._past.add(features)
        self._waiting += 1
        if self._waiting * ROWS_A_DESCRIPTION >= self._past.size:
            self._sum_anew()
        else:
            learned = self._model.represent(features[None])[0]
            self._sigma += np.outer(learned, learned)
        self._inverse = _inverse(self._sigma)

    def _sum_anew(self) -> None:
        learned = self._model.represent(self._past.rows)
        self._sigma = self._lam * np.eye(len(self._sigma))
        self._sigma += (learned * self._past.counts[:, None]).T @ learned
        self._waiting = 0

    def state(self) -> State:
        """Both Sigmas, and the past."""
        own: State = {"sigma": self._sigma.copy(), "waiting": self._waiting}
        past = {"rows": self._past.rows.copy(), "counts": self._past.counts.copy()}
        return {**prefixed(RAW, self.raw.state()), **own, **past}

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        sigma = saved_array(state, "sigma", self._sigma.shape)
        if np.linalg.eigvalsh(sigma)[0] <= 0:
            raise SettingError("The saved sigma has numbers that are not possible.")
        waiting = whole("waiting", int(state["waiting"]), at_least=0)
        past = _Past.restored(len(self.raw.inverse), state)
        self.raw.restore(part(state, RAW))
        self._sigma, self._inverse = sigma, _inverse(sigma)
        self._past, self._waiting = past, waiting


def _inverse(sigma: Array) -> Array:
    inverse: Array = np.asarray(np.linalg.inv(sigma), dtype=np.float64)
    return inverse


class _Past:
    """The distinct features that were described, with their counts."""

    def __init__(self, dim: int) -> None:
        self.size = 0
        self._rows = np.empty((16, dim))
        self._counts = np.zeros(16)
        self._places: dict[bytes, int] = {}

    @property
    def rows(self) -> Array:
        return self._rows[: self.size]

    @property
    def counts(self) -> Array:
        return self._counts[: self.size]

    def add(self, features: Array) -> None:
        place = self._places.setdefault(features.tobytes(), self.size)
        if place == self.size:
            if place == len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
                self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
            self._rows[place] = features
            self.size += 1
        self._counts[place] += 1

    @classmethod
    def restored(cls, dim: int, state: State) -> _Past:
        counts = saved_array(state, "counts", np.shape(state["counts"])[:1], least=0)
        rows = saved_array(state, "rows", (len(counts), dim))
        past = cls(dim)
        for row, count in zip(rows, counts, strict=True):
            past.add(row)
            past._counts[past.size - 1] = count
        return past
