"""Explorers: each turns a model's estimates into a choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from tellback.agents.fading import FadingEllipsoid
from tellback.agents.radius import Moment, RadiusSpec
from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import ProtocolError
from tellback.models.ellipsoid import Ellipsoid, Widths
from tellback.models.model import Likely, Model, Searching, estimates_of
from tellback.models.search.found import Found, best_of
from tellback.models.states import NothingLearned
from tellback.proof import Proof
from tellback.responses import Listed
from tellback.roles import Choice, Facts, Instruction, State, Task, new_tuple
from tellback.ties import maxima


class Explorer(Protocol):
    """Chooses a response."""

    @property
    def caveat(self) -> str:
        """Why the widths it states prove nothing; '' if the theory prescribes them."""

    @property
    def propensities(self) -> str:
        """How the propensities it states are known: "exact", or given what."""

    def choose(self, task: Task, model: Model, rng: np.random.Generator) -> Choice:
        """A choice for the task, changing nothing."""

    def bonuses(self, responses: Listed) -> Array:
        """What it would add now to the estimate of every listed response, changing nothing.

        NaN where that depends on the instruction.
        """

    def learn(self, features: Array) -> None:
        """Take in that a response with these features was described."""

    def state(self) -> State:
        """All that was learned, in arrays and numbers."""

    def restore(self, state: State) -> None:
        """Go back to such a state."""


class Stateless(NothingLearned):
    """Base of explorers that learn nothing and add nothing to estimates."""

    caveat = "it states no widths"
    propensities = "exact"

    def bonuses(self, responses: Listed) -> Array:
        """None."""
        return np.zeros(len(responses))

    def learn(self, features: Array) -> None:
        """Nothing to learn."""

    @property
    def withdraws(self) -> bool:
        """Whether it learns nothing; a subclass that learns must say how to withdraw."""
        return type(self).learn is Stateless.learn

    def withdraw(self, features: Array) -> None:
        """Nothing to take back."""


class Optimism:
    """Estimate plus k times the elliptic width (Algorithm 1, line 5).

    pi_t(x) = argmax_y f-hat(x) . g(y, s) + k ||g(y, s)|| in the norm of Sigma^-1.

    Parameters
    ----------
    facts : Facts
        What may be known beforehand.
    k : float or RadiusSpec
        A constant, the appendix's form; or the radius that the theory prescribes.
    lam : float or "1/t"
        lambda: a constant, or fading.
    ties : "random" or "first"
        How to choose among equally good responses.
    """

    propensities = "exact"

    def __init__(self, facts: Facts, k: float | RadiusSpec, lam: float | str, ties: str) -> None:
        self.ellipsoid: Widths = (
            FadingEllipsoid(facts.dim) if isinstance(lam, str) else Ellipsoid(facts.dim, lam)
        )
        self.constant = k if isinstance(k, float | int) else None
        self._spec = k if isinstance(k, RadiusSpec) else None
        self._radius = None if self._spec is None else self._spec.build(facts)
        self._facts, self._lam = facts, lam
        self.model: Model | None = None  # whose estimates the radius is for
        self._gap: Callable[[], float] = float
        self.random = ties == "random"
        self._keep = facts.fixed_responses
        self._shared = False  # whether the model keeps Sigma
        self._search: Callable[[Instruction, Listed, float, bool, bool], Found] | None = None

    @property
    def k(self) -> float:
        """The weight of the widths now."""
        if self._radius is None:
            assert self.constant is not None
            return self.constant
        sigma = self.ellipsoid
        return self._radius(Moment(sigma.count + 1, sigma.lam, self._log_det, self._gap))

    def _log_det(self) -> float:
        assert isinstance(self.ellipsoid, Ellipsoid), "a fading ridge was refused with the spec"
        return self.ellipsoid.log_det

    def about(self, model: Model) -> None:
        """Set the model whose estimates the radius is for."""
        self.model = model
        self._gap = model.likelihood_gap if isinstance(model, Likely) else float

    @property
    def caveat(self) -> str:
        """Why its widths prove nothing; '' if the theory prescribes them."""
        return "" if self._radius else f"k = {self.constant:g} was chosen and not derived"

    def proof(self) -> Proof | str:
        """The proof that its widths hold the truth; or why there is none."""
        if self._spec is None or self.model is None:
            return self.caveat or "it is not known whose estimates its widths are for"
        if self._search is not None and isinstance(self.model, Searching) and self.model.unproven:
            return self.model.unproven
        return self._spec.proof(self.model, self._lam, self._facts)

    def choose(self, task: Task, model: Model, rng: np.random.Generator) -> Choice:
        """The response with the highest optimistic estimate."""
        if self._search is not None and model is self.model:
            k = self.k
            found = self._search(task.instruction, task.responses, k, self._keep, self.random)
            return _chosen(task, found, k, rng, model)
        estimates = estimates_of(model, task)
        widths = self.ellipsoid.squared_widths(task.responses, self._keep)
        widths = self.weighted(widths, estimates)
        return optimistic_choice(task, estimates, widths, self.k, self.random, rng, model)

    def weighted(self, squared_widths: Array, estimates: Array) -> Array:
        """The squared widths that count: as they are, whatever the estimates."""
        return squared_widths

    def widths(self, responses: Listed) -> Array:
        """k times the elliptic width of every response of a task that is being played."""
        widths: Array = self.k * np.sqrt(self.ellipsoid.squared_widths(responses, self._keep))
        return widths

    def bonuses(self, responses: Listed) -> Array:
        """k times the elliptic width of every listed response."""
        # Looking at a bonus must not change the cached widths.
        bonuses: Array = self.k * np.sqrt(self.ellipsoid.squared_widths(responses, keep=False))
        return bonuses

    def learn(self, features: Array) -> None:
        """Add the features to Sigma."""
        if not self._shared:
            self.ellipsoid.add(features)

    @property
    def withdraws(self) -> bool:
        """Whether what was learned can be taken back: not where the ridge fades."""
        return isinstance(self.ellipsoid, Ellipsoid)

    def withdraw(self, features: Array) -> None:
        """Take the features out of Sigma."""
        if isinstance(self.ellipsoid, Ellipsoid) and not self._shared:
            self.ellipsoid.remove(features)

    def share(self, ellipsoid: Ellipsoid) -> None:
        """Use a Sigma that the model keeps up to date, if it has the same ridge."""
        if isinstance(self.ellipsoid, Ellipsoid) and self.ellipsoid.lam == ellipsoid.lam:
            self.ellipsoid, self._shared = ellipsoid, True
            if isinstance(self.model, Searching) and type(self).weighted is Optimism.weighted:
                self._search = self.model.most_optimistic

    def state(self) -> State:
        """The ellipsoid's, unless it is the model's."""
        return {} if self._shared else self.ellipsoid.state()

    def restore(self, state: State) -> None:
        """The ellipsoid's."""
        if not self._shared:
            self.ellipsoid.restore(state)


class Dithering(Stateless):
    """The response with the highest estimate, but any response with probability epsilon."""

    def __init__(self, epsilon: float, ties: str) -> None:
        self.epsilon = epsilon
        self.random = ties == "random"

    def choose(self, task: Task, model: Model, rng: np.random.Generator) -> Choice:
        """Greedy, except now and then."""
        responses = task.responses
        estimates = estimates_of(model, task)
        count = len(estimates)
        best = maxima(estimates, self.random)
        if not len(best):
            raise not_finite(model)
        epsilon = self.epsilon
        if epsilon and rng.random() < epsilon:
            response = int(rng.random() * count)
            greedy = response in best
        else:
            response, greedy = _one_of(best, rng), True
        propensity = epsilon / count
        if greedy:
            propensity += (1 - epsilon) / len(best)
        return Choice(
            response, responses.features(response), estimates.item(response), 0.0, propensity
        )


class UniformSampling(Stateless):
    """Any response, with equal probability; the model is not asked."""

    def choose(self, task: Task, model: Model, rng: np.random.Generator) -> Choice:
        """A response at random."""
        responses = task.responses
        response = int(rng.random() * len(responses))
        return Choice(response, responses.features(response), propensity=1 / len(responses))


def optimistic_choice(
    task: Task,
    estimates: Array,
    widths: Array,
    k: float,
    random: bool,
    rng: np.random.Generator,
    model: object,
) -> Choice:
    """The response with the highest estimate of the model plus k times its width.

    ``widths`` are squared. ``random`` says whether ties are broken at random.
    """
    found = Found(*best_of(estimates, widths, k, random))
    return _chosen(task, found, k, rng, model)


def _chosen(task: Task, found: Found, k: float, rng: np.random.Generator, model: object) -> Choice:
    """One of the best, at random; nothing is drawn where there is only one."""
    best = found.best
    if not len(best):
        raise not_finite(model)
    which = int(rng.random() * len(best)) if len(best) > 1 else 0
    response, propensity = best.item(which), 1.0 / len(best)
    features, estimate = task.responses.features(response), found.estimates.item(which)
    bonus = k * math.sqrt(found.squared_widths.item(which))
    told = (response, features, estimate, bonus, propensity, bonus, estimate + bonus, None)
    choice: Choice = new_tuple(Choice, told)
    return choice


def not_finite(model: object) -> ProtocolError:
    """The error for a model whose estimates are not all numbers."""
    return ProtocolError(f"The estimates of {type(model).__name__} are not all numbers.")


def _one_of(best: Indices, rng: np.random.Generator) -> int:
    """One of some responses at random; nothing is drawn where there is only one."""
    which = int(rng.random() * len(best)) if len(best) > 1 else 0
    return best.item(which)


@compiled
def most_optimistic(estimates: Array, widths: Array, k: float, random: bool) -> Indices:
    """The responses with the highest upper bound, as ``maxima`` gives them."""
    upper = np.empty(len(estimates))
    for y in range(len(estimates)):
        upper[y] = estimates[y] + k * np.sqrt(widths[y])
    return maxima(upper, random)
