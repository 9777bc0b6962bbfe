"""How wide a confidence ellipsoid is: the weight of the bonus that the theory prescribes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

from tellback import theory
from tellback.errors import SettingError, real, unknown_name
from tellback.models.ellipsoid import LOWEST_RIDGE
from tellback.models.model import ModelSpec, demand_table
from tellback.roles import Facts
from tellback.specs import Spec, known_kinds

FADING = "1/t"
"""The ridge of Algorithm 1: lambda_t = 1/t."""

ROUNDING = 1e-9

Radius = Callable[[int, float], float]
"""The radius in round t, where the ridge is lambda_t."""


@dataclass(frozen=True)
class RadiusSpec(Spec):
    """The settings of a radius.

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

    role: ClassVar[str] = "radius"

    delta: float = 0.05
    log_class_size: float | None = None
    B: float | None = None

    def __post_init__(self) -> None:
        size, bound = self.log_class_size, self.B
        self._settle(
            delta=real("delta", self.delta, above=0, at_most=1),
            log_class_size=None if size is None else real("log_class_size", size, at_least=0),
            B=None if bound is None else real("B", bound, above=0),
        )
        if self.delta == 1:
            raise SettingError("delta must be below 1.")

    def begin(self, facts: Facts) -> Radius:
        """The radius for an agent that may know these facts."""
        raise NotImplementedError

    def settled(self, model: ModelSpec, facts: Facts) -> Self:
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


@dataclass(frozen=True)
class Printed(RadiusSpec):
    """Algorithm 1, line 5, as printed: C' (sqrt(log(t |F| / delta)) + sqrt(lambda_t) B)."""

    def begin(self, facts: Facts) -> Radius:
        """The printed radius."""
        delta, bound, size = self.delta, self.bound(facts), self.log_class_size
        if size is not None:
            return lambda t, lam: theory.printed_radius(t, lam, size, delta, bound)
        instructions = demand_table("the softmax class", facts)

        def radius(t: int, lam: float) -> float:
            covered = theory.bracketing_log_size(t, instructions, facts.dim)
            return theory.printed_radius(t, lam, covered, delta, bound)

        return radius


@dataclass(frozen=True)
class Repaired(RadiusSpec):
    """The radius that a supermartingale argument gives: smaller, and with fewer gaps."""

    def begin(self, facts: Facts) -> Radius:
        """The repaired radius."""
        delta, bound, size = self.delta, self.bound(facts), self.log_class_size
        if size is not None:
            return lambda t, lam: theory.repaired_radius(lam, size, delta, bound)
        instructions = demand_table("the softmax class", facts)
        return lambda t, lam: theory.softmax_radius(t, lam, instructions, facts.dim, delta)


def checked_radius(k: object) -> float | RadiusSpec:
    """The weight of a bonus: a number, a radius, or the kind of one."""
    kinds = known_kinds(RadiusSpec)
    if isinstance(k, str) and k in kinds:
        return kinds[k]()
    if isinstance(k, str):
        unknown = unknown_name("radius", k, kinds)
        raise SettingError(f"k must be a number, not {k!r}, or a radius. {unknown}")
    return k if isinstance(k, RadiusSpec) else real("k", k, at_least=0)


def checked_ridge(lam: object) -> float | str:
    """lambda: a number, or fading as 1/t."""
    if lam == FADING:
        return FADING
    if isinstance(lam, str):
        raise SettingError(f"lam must be a number, or {FADING!r}, not {lam!r}.")
    return real("lam", lam, at_least=LOWEST_RIDGE)
