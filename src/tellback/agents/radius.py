"""How wide a confidence ellipsoid is: the weight of the bonus that the theory prescribes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, NamedTuple, Self

import numpy as np

from tellback import theory
from tellback.arrays import Array
from tellback.errors import SettingError, real, unknown_name
from tellback.models.ellipsoid import LOWEST_RIDGE
from tellback.models.finite import FiniteClassModel
from tellback.models.mixture import MixtureModel
from tellback.models.model import Model, ModelSpec, demand_table
from tellback.models.ridge import Ridge, RidgeModel
from tellback.proof import Proof
from tellback.roles import Facts
from tellback.specs import NonNegative, Positive, Spec, known_kinds

FADING = "1/t"
"""The ridge of Algorithm 1: lambda_t = 1/t."""

ROUNDING = 1e-9

NO_GAP_KNOWN = "its model does not bound how far its likelihood is from the maximum"


def _unknown() -> float:
    raise SettingError("This radius needs a constant ridge, and 1/t is none.")


class Moment(NamedTuple):
    """All that a radius may depend on before a round. Slow values are computed on demand."""

    t: int  # the number of descriptions so far, and 1 more
    lam: float  # the ridge, lambda_t
    log_det: Callable[[], float] = _unknown  # log det(Sigma_t / lambda), for a constant ridge
    # How far below its maximum the model's log-likelihood may be; float() is 0.
    gap: Callable[[], float] = float


Radius = Callable[[Moment], float]
"""The radius before a round."""


@dataclass(frozen=True)
class RadiusSpec(Spec):
    """The settings of a radius.

    Parameters
    ----------
    delta : float
        The probability with which the ellipsoid may miss at some time.
    """

    role: ClassVar[str] = "radius"

    delta: Annotated[float, partial(real, above=0, at_most=1)] = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta == 1:
            raise SettingError("delta must be below 1.")

    def build(self, facts: Facts) -> Radius:
        """The radius for an agent that may know these facts."""
        raise NotImplementedError

    def resolved(self, model: ModelSpec, facts: Facts) -> Self:
        """The same radius with all that it takes from the model's class named."""
        return self

    def ridge(self, model: ModelSpec | None) -> float | str:
        """The ridge that it goes with."""
        return FADING

    def proof(self, model: Model, lam: float | str, facts: Facts) -> Proof | str:
        """The proof that ellipsoids of this radius around a model's estimates hold the truth.

        Parameters
        ----------
        model : Model
            The live model.
        lam : float or "1/t"
            The ridge of the ellipsoid.
        facts : Facts
            Those of the world.

        Returns
        -------
        Proof or str
            If the run is as the theory has it; or why there is none. By default there is none.
        """
        return f"nothing is known of the radius {self.kind}"


@dataclass(frozen=True)
class LikelihoodRadius(RadiusSpec):
    """The base of those for maximum likelihood.

    Parameters
    ----------
    delta : float
        The probability with which the ellipsoid may miss at some time.
    log_class_size : float or None
        log |F|. None stands for that of the agent's model, if it chooses among finitely many f;
        else for the softmax class, which is infinite: then the number of its brackets counts
        (``theory.bracketing_log_size``).
    B : float or None
        The bound on the length of f(x) and of g(y, s) (Assumption 2). None stands for that
        of the model's class; for the softmax class, sqrt(d).
    """

    abstract: ClassVar[bool] = True

    log_class_size: NonNegative | None = None
    B: Positive | None = None

    def resolved(self, model: ModelSpec, facts: Facts) -> Self:
        """The same radius with the size of the model's class named, if that is finite."""
        known = model.known_class(facts)
        if known is None:
            return self
        given = {"log_class_size": self.log_class_size, "B": self.B}
        needed = dict(zip(given, known, strict=True))
        for name, value in given.items():
            if value is not None and value < needed[name] * (1 - ROUNDING):
                raise SettingError(
                    f"{name} = {value:g} is below the {needed[name]:.4g} of the class of "
                    f"{model.kind}: the radius would prove nothing. Leave it out, or give a number "
                    "as k."
                )
        missing = {name: needed[name] for name, value in given.items() if value is None}
        return self.with_settings(missing)

    def bound(self, facts: Facts) -> float:
        """B."""
        return theory.softmax_bound(facts.dim) if self.B is None else self.B

    def proof(self, model: Model, lam: float | str, facts: Facts) -> Proof | str:
        """For a finite class, of which the most likely member is found exactly."""
        if type(model) is not FiniteClassModel:
            return getattr(model, "inexact", NO_GAP_KNOWN)
        truth = f"the truth is one of the {model.size:,} members of its class"
        return Proof(self.delta, self.kind, truth, holds=model.has)


@dataclass(frozen=True)
class Printed(LikelihoodRadius):
    """Algorithm 1, line 5, as printed: C' (sqrt(log(t |F| / delta)) + sqrt(lambda_t) B).

    It has no term for a likelihood below its maximum, and is proven for a finite class alone.
    """

    def build(self, facts: Facts) -> Radius:
        """The printed radius."""
        delta, bound, size = self.delta, self.bound(facts), self.log_class_size
        if size is not None:
            return lambda now: theory.printed_radius(now.t, now.lam, size, delta, bound)
        instructions = demand_table("the softmax class", facts)

        def radius(now: Moment) -> float:
            covered = theory.bracketing_log_size(now.t, instructions, facts.dim)
            return theory.printed_radius(now.t, now.lam, covered, delta, bound)

        return radius

    def proof(self, model: Model, lam: float | str, facts: Facts) -> Proof | str:
        """For a finite class."""
        if type(model) is MixtureModel:
            return "its likelihood is not at its maximum, for which the printed radius has no term"
        return super().proof(model, lam, facts)


@dataclass(frozen=True)
class Repaired(LikelihoodRadius):
    """The radius that a supermartingale argument gives: smaller, and with fewer gaps.

    How far the model's likelihood is from its maximum counts (``models.Likely``).
    """

    version: ClassVar[int] = 2

    def build(self, facts: Facts) -> Radius:
        """The repaired radius."""
        delta, bound, size = self.delta, self.bound(facts), self.log_class_size
        if size is not None:
            return lambda now: theory.repaired_radius(now.lam, size, delta, bound, now.gap())
        instructions = demand_table("the softmax class", facts)
        return lambda now: theory.softmax_radius(
            now.t, now.lam, instructions, facts.dim, delta, now.gap()
        )

    def proof(self, model: Model, lam: float | str, facts: Facts) -> Proof | str:
        """For a finite class, and for the softmax class with its brackets."""
        if type(model) is not MixtureModel:
            return super().proof(model, lam, facts)
        if self.log_class_size is not None:
            return (
                f"its class is infinite, and log_class_size = {self.log_class_size:g} was chosen: "
                "leave it out"
            )
        truth = "the truth is f(x) . g(y, s) with columns of F that are distributions"
        return Proof(self.delta, self.kind, truth, holds=_distributions)


@dataclass(frozen=True)
class SelfNormalized(RadiusSpec):
    """For ridge regression on a table of instructions, by a self-normalised martingale bound.

    1/2 sqrt(log det(Sigma_t / lambda) + 2 log(|X| / delta)) + sqrt(lambda) B: the class may be
    any, and |X| counts by its logarithm (``theory.self_normalized_radius``; Abbasi-Yadkori,
    Pal and Szepesvari 2011). The ridge is constant, and the ellipsoid's is the model's:
    ``LORIL(k=SelfNormalized(), lam=0.1, model=Ridge(0.1))``.

    Parameters
    ----------
    delta : float
        The probability with which the ellipsoid may miss at some time.
    B : float or None
        No f(x) is longer. None stands for sqrt(d), which is so if the columns of F are
        distributions.
    """

    B: Positive | None = None

    def bound(self, facts: Facts) -> float:
        """B."""
        return theory.softmax_bound(facts.dim) if self.B is None else self.B

    def build(self, facts: Facts) -> Radius:
        """The radius for a table of instructions."""
        delta, bound = self.delta, self.bound(facts)
        instructions = demand_table("a radius by a union over instructions", facts)
        return lambda now: theory.self_normalized_radius(
            now.log_det(), now.lam, instructions, delta, bound
        )

    def ridge(self, model: ModelSpec | None) -> float | str:
        """That of the model."""
        return model.lam if isinstance(model, Ridge) else Ridge().lam

    def proof(self, model: Model, lam: float | str, facts: Facts) -> Proof | str:
        """For ridge regression with the same ridge."""
        if type(model) is not RidgeModel:
            return f"the radius {self.kind} is for the model ridge alone"
        if model.ellipsoid.lam != lam:
            return f"lam = {lam} is not the model's, {model.ellipsoid.lam:g}"
        bound = self.bound(facts)
        truth = f"the truth is f(x) . g(y, s) with no f(x) longer than B = {bound:.4g}"
        return Proof(self.delta, self.kind, truth, holds=partial(_no_longer, bound))


def _distributions(f: Array) -> bool:
    """Whether all columns are."""
    return bool((f >= 0).all() and (np.abs(f.sum(axis=0) - 1) <= ROUNDING).all())


def _no_longer(bound: float, f: Array) -> bool:
    """Whether no row is longer."""
    return bool(np.linalg.norm(f, axis=1).max() <= bound * (1 + ROUNDING))


def checked_radius(k: object) -> float | RadiusSpec:
    """The weight of a bonus: a number, a radius, or the kind of one."""
    kinds = known_kinds(RadiusSpec)
    if isinstance(k, str) and k in kinds:
        return kinds[k]()
    if isinstance(k, str):
        unknown = unknown_name("radius", k, kinds)
        raise SettingError(f"k must be a number, not {k!r}, or a radius. {unknown}")
    return k if isinstance(k, RadiusSpec) else real("k", k, at_least=0)


def checked_ridge(lam: object, k: float | RadiusSpec = 0.0) -> float | str:
    """lambda: a number, or fading as 1/t if the radius allows it."""
    if lam == FADING and isinstance(k, SelfNormalized):
        raise SettingError(
            f"lam must be a number where k is {k.kind}, the same as that of the model: {FADING} is "
            "another in every round."
        )
    if lam == FADING:
        return FADING
    if isinstance(lam, str):
        raise SettingError(f"lam must be a number, or {FADING!r}, not {lam!r}.")
    return real("lam", lam, at_least=LOWEST_RIDGE)
