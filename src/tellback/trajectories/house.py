"""The benchmark in the house: learned proposals against blind ones, K, bonus, and size."""

from __future__ import annotations

from tellback.agents import LORIL, Blind, Greedy, LogLinear, ModelAgentSpec, Proposing, Uniform
from tellback.models import Phrases
from tellback.trajectories.plan import Bar, Condition, Fewer, Growth, Trajectories
from tellback.worlds.house import House

MARKS = (0, 100, 300, 1_000, 3_000, 10_000)
PROPOSALS, SIZES, BONUS, WORDINGS, PATHS = (
    "Proposals, 64 candidates",
    "Number of candidates",
    "Bonus against greedy",
    "Requests in wordings that no teacher uses",
    "Number of possible paths, 64 candidates",
)
WAYPOINTS, MOVES, WALKS = "learned waypoints", "learned moves", "uniform walks"
PASSES = 4
"""How often candidates are drawn until K are different. With 4 passes (seed 1000, 3,000
descriptions), the best candidate had 98% of the best reward; with 1 pass, 97%."""

STEPS = (6, 8, 10, 12)
"""Moves of a path at most: there are then about 10^3, 10^4, 10^5 and 10^6 paths in a house."""


def house_agent(
    proposal: Blind | LogLinear, k: int = 64, agent: ModelAgentSpec | None = None
) -> Proposing:
    """The agent of the benchmark: greedy, with estimates phrase by phrase."""
    return Proposing(agent or Greedy(model=Phrases()), proposal, k, PASSES)


def house() -> Trajectories:
    """All conditions and bars."""
    world, few, shorter = House(), 0.25, MARKS[:-2]
    learned = house_agent(LogLinear("waypoints"))
    proposals = {
        WAYPOINTS: (learned, MARKS, 1.0),
        MOVES: (house_agent(LogLinear("moves")), MARKS, 1.0),
        WALKS: (house_agent(Blind()), MARKS, 1.0),
        "random waypoints": (house_agent(Blind("waypoints")), MARKS, few),
        "shortest paths to random cells": (house_agent(Blind("cells")), MARKS, few),
        "random play": (Uniform(), (0, 1), few),
    }
    bonus = {
        "greedy": learned.agent,
        "LORIL, k = 0.01": LORIL(k=0.01, model=Phrases()),
        "LORIL, k = 0.1": LORIL(k=0.1, model=Phrases()),
    }
    conditions = (
        *(Condition(PROPOSALS, name, world, *one) for name, one in proposals.items()),
        *(
            Condition(PATHS, f"at most {steps} moves", House(steps=steps), learned, (100, 1_000))
            for steps in STEPS
        ),
        *(
            Condition(
                SIZES, f"K = {k}", world, house_agent(LogLinear("waypoints"), k), shorter, few
            )
            for k in (1, 4, 16, 64, 256)
        ),
        *(
            Condition(
                BONUS, name, world, house_agent(LogLinear("waypoints"), agent=one), shorter, few
            )
            for name, one in bonus.items()
        ),
        *(
            Condition(
                WORDINGS, name, House(wordings="disjoint"), house_agent(proposal), shorter, few
            )
            for name, proposal in ((WAYPOINTS, LogLinear("waypoints")), (WALKS, Blind()))
        ),
    )
    bars = (
        Bar(PROPOSALS, WAYPOINTS, 1_000, "success", 0.95),
        Bar(PROPOSALS, WAYPOINTS, 1_000, "reward", 0.90),
        Bar(PROPOSALS, WAYPOINTS, 10_000, "success", 0.98),
        Bar(PROPOSALS, WAYPOINTS, 10_000, "reward", 0.98),
        Bar(PROPOSALS, MOVES, 10_000, "success", 0.92),
    )
    return Trajectories(
        "house",
        "The house: paths that a person describes",
        conditions,
        bars,
        growth=Growth(PATHS, 0.05),
        fewer=Fewer(PROPOSALS, WAYPOINTS, WALKS, 30),
        film=(PROPOSALS, WAYPOINTS),
    )
