"""The agents of the paper's experiments, with the grids among which they are tuned."""

from __future__ import annotations

from tellback.agents import LORIL, EpsilonGreedy, Greedy, Uniform
from tellback.models import ModelSpec
from tellback.roles import AgentSpec

EPSILONS = (0.05, 0.1, 0.2, 0.3)  # the same in both of the paper's tables
LAMBDAS = (0.05, 0.1, 1.0)
KS = (0.1, 1.0, 10.0)


def agents(ties: str, model: ModelSpec | None = None) -> dict[str, tuple[AgentSpec, ...]]:
    """The four agents with the paper's grids, with a model, or else their default one."""
    return {
        "LORIL": lorils(ties, model),
        "epsilon-greedy": tuple(
            EpsilonGreedy(epsilon, ties=ties, model=model) for epsilon in EPSILONS
        ),
        "greedy": (Greedy(ties=ties, model=model),),
        "random": (Uniform(),),
    }


def lorils(ties: str, model: ModelSpec | None = None) -> tuple[AgentSpec, ...]:
    """LORIL with each of the paper's settings."""
    return tuple(LORIL(k=k, lam=lam, ties=ties, model=model) for k in KS for lam in LAMBDAS)
