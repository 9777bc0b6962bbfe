"""The agents of the league, each with the settings among which it is tuned."""

from __future__ import annotations

from tellback.agents import (
    LORIL,
    EpsilonGreedy,
    Fisher,
    Greedy,
    InverseGap,
    LearnedLORIL,
    OneHotLORIL,
    Thompson,
    Uniform,
)
from tellback.agents.deviations import SMOOTHING
from tellback.encoders import NGrams
from tellback.models import Keywords, LowRank, Mixture, Network, Ridge, Sentence
from tellback.paper.grids import EPSILONS, KS, LAMBDAS, agents, lorils
from tellback.roles import AgentSpec

AgentGrids = dict[str, tuple[AgentSpec, ...]]
"""Agents by name, each with its settings."""

PAPER = "the paper's LORIL"
RECOMMENDED = "recommended"
RANDOM = {"random": (Uniform(),)}

WIDER_KS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
WIDER_LAMBDAS = (0.01, 0.05, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Wider than the paper's grid: in most worlds the best of the paper's settings lies on its edge,
and the comparison with a rival limited by its grid would not be fair."""
SMOOTHED = Mixture(smoothing=SMOOTHING)


def in_tables() -> AgentGrids:
    """For worlds where instructions are a table and g is known."""
    others = agents("random", Mixture())
    return {
        PAPER: tuple(
            LORIL(k=k, lam=lam, model=Mixture()) for k in WIDER_KS for lam in WIDER_LAMBDAS
        ),
        **{name: others[name] for name in ("greedy", "epsilon-greedy", "random")},
        "LORIL, smoothed": tuple(
            LORIL(k=k, lam=lam, model=SMOOTHED) for k in KS[:2] for lam in LAMBDAS[::2]
        ),
        "greedy, smoothed": (Greedy(model=SMOOTHED),),
        "LORIL, ridge": tuple(LORIL(k=k, lam=1.0, model=Ridge(lam=1.0)) for k in (0.1, 0.3, 1.0)),
        "Fisher": tuple(Fisher(k=k) for k in (0.5, 1.0, 2.0)),
        "Thompson": tuple(Thompson(scale=scale, draws=1) for scale in (0.25, 0.5, 1.0)),
        "inverse gap": (
            InverseGap(scale=100, tried="all"),
            InverseGap(scale=1000, tried="all"),
            InverseGap(scale=30, tried="spanner"),
            InverseGap(scale=100, tried="spanner"),
        ),
        "one-hot LORIL": tuple(OneHotLORIL(k=k, lam=1.0) for k in KS[:2]),
    }


def without_g() -> AgentGrids:
    """For worlds where only the number of a response is known."""
    return {
        "one-hot LORIL": tuple(
            OneHotLORIL(k=k, lam=lam) for k in WIDER_KS for lam in WIDER_LAMBDAS
        ),
        "low rank, greedy": (Greedy(model=LowRank()),),
        "low rank, d known": (LearnedLORIL(model=LowRank(rank=5)),),
        **RANDOM,
    }


def on_raw_features() -> AgentGrids:
    """For worlds where g is an unknown function of real-valued features."""
    return {
        "LORIL, ridge": tuple(
            LORIL(k=k, lam=lam, model=Ridge(lam=lam))
            for k in WIDER_KS[:-1]
            for lam in (0.1, 1.0, 10.0)
        ),
        "greedy, ridge": (Greedy(model=Ridge()),),
        "greedy, network": (Greedy(model=Network()),),
        **RANDOM,
    }


def in_words() -> AgentGrids:
    """For worlds where instructions are sentences."""
    return {
        PAPER: lorils("random", Sentence()),
        "greedy, the paper's GRU": (Greedy(model=Sentence()),),
        **in_any_words(),
    }


def in_any_words() -> AgentGrids:
    """For worlds where instructions are sentences, without models that are slow to train."""
    return {
        "epsilon-greedy, key words": tuple(
            EpsilonGreedy(epsilon, model=Keywords()) for epsilon in EPSILONS[:2]
        ),
        "Thompson, key words": tuple(
            Thompson(scale=scale, draws=1, model=Keywords()) for scale in (0.25, 1.0)
        ),
        "greedy, ridge on n-grams": (Greedy(model=Ridge(labels=NGrams())),),
        "greedy, ridge on whole sentences": (Greedy(model=Ridge()),),
        **RANDOM,
    }
