"""LORIL: learning in low-rank models from instruction labels (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from tellback.agents.agent import ModelAgentSpec
from tellback.agents.explorers import Explorer, Optimism
from tellback.agents.radius import (
    FADING,
    Printed,
    RadiusSpec,
    Repaired,
    checked_radius,
    checked_ridge,
)
from tellback.models.model import ModelSpec
from tellback.roles import Facts


@dataclass(frozen=True)
class LORIL(ModelAgentSpec):
    """Optimism under an elliptic bonus: in the form of the paper's appendix, or as printed.

    Parameters
    ----------
    k : float, RadiusSpec or the kind of one
        The weight of the bonus: a constant, or the radius that the theory prescribes.
    lam : float or "1/t"
        lambda, the ridge of Sigma-hat: a constant, or the fading one of Algorithm 1.
    model, ties
        As in every agent with a model.

    Examples
    --------
    >>> LORIL(k=0.1, lam=1.0)
    LORIL(model=None, ties='random', k=0.1, lam=1.0)
    >>> LORIL.as_printed(delta=0.05, log_class_size=4.2, B=1.0).label()
    'loril k=(printed log_class_size=4.2 B=1.0) lam=1/t ties=random'
    """

    version: ClassVar[int] = 2  # many fresh responses: the last bits of widths, by BLAS

    k: float | RadiusSpec = 0.1
    lam: float | str = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        k = checked_radius(self.k)
        self._set_validated(k=k, lam=checked_ridge(self.lam, k))

    @classmethod
    def as_printed(
        cls,
        delta: float = 0.05,
        log_class_size: float | None = None,
        B: float | None = None,
        *,
        model: ModelSpec | None = None,
        ties: str = "random",
    ) -> Self:
        """Algorithm 1 as the paper prints it: lambda_t = 1/t and the bonus b_t of line 5.

        Parameters
        ----------
        delta, log_class_size, B
            As in every radius (``RadiusSpec``).
        model, ties
            As in every agent with a model.
        """
        return cls(k=Printed(delta, log_class_size, B), lam=FADING, model=model, ties=ties)

    @classmethod
    def as_repaired(
        cls,
        delta: float = 0.05,
        log_class_size: float | None = None,
        B: float | None = None,
        *,
        model: ModelSpec | None = None,
        ties: str = "random",
    ) -> Self:
        """The same with the repaired radius, which is smaller (``theory.repaired_radius``)."""
        return cls(k=Repaired(delta, log_class_size, B), lam=FADING, model=model, ties=ties)

    def resolved(self, facts: Facts) -> Self:
        """The same agent with its model named, and the class that its radius is for."""
        named = super().resolved(facts)
        if not isinstance(self.k, RadiusSpec) or named.model is None:
            return named
        return named.with_settings({"k": self.k.resolved(named.model, facts)})

    def explorer(self, facts: Facts) -> Explorer:
        """The elliptic bonus."""
        return Optimism(facts, self.k, self.lam, self.ties)
