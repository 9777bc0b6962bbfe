"""LORIL: learning in low-rank models from instruction labels (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

from tellback.agents.agent import ModelAgentSpec
from tellback.agents.ellipsoid import LOWEST_RIDGE
from tellback.agents.explorers import Explorer, Optimism
from tellback.errors import real
from tellback.roles import Facts


@dataclass(frozen=True)
class LORIL(ModelAgentSpec):
    """Optimism under an elliptic bonus, in the form of the paper's appendix.

    Parameters
    ----------
    k : float
        The weight of the bonus.
    lam : float
        lambda, the ridge of Sigma-hat.
    model, ties
        As in every agent with a model.

    Examples
    --------
    >>> LORIL(k=0.1, lam=1.0)
    LORIL(model=None, ties='random', k=0.1, lam=1.0)
    """

    k: float = 0.1
    lam: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle(
            k=real("k", self.k, at_least=0), lam=real("lam", self.lam, at_least=LOWEST_RIDGE)
        )

    def explorer(self, facts: Facts) -> Explorer:
        """The elliptic bonus."""
        return Optimism(facts, self.k, self.lam, self.ties)
