"""The agents of the paper's experiments, with the grids among which they are tuned."""

from __future__ import annotations

from tellback.agents import LORIL, EpsilonGreedy, Greedy, Uniform
from tellback.roles import AgentSpec

EPSILONS = (0.05, 0.1, 0.2, 0.3)  # the same in both of the paper's tables
LAMBDAS = (0.05, 0.1, 1.0)
KS = (0.1, 1.0, 10.0)


def agents(ties: str) -> dict[str, tuple[AgentSpec, ...]]:
    """The four agents with the paper's grids."""
    return {
        "LORIL": tuple(LORIL(k=k, lam=lam, ties=ties) for k in KS for lam in LAMBDAS),
        "epsilon-greedy": tuple(EpsilonGreedy(epsilon, ties=ties) for epsilon in EPSILONS),
        "greedy": (Greedy(ties=ties),),
        "random": (Uniform(),),
    }
