"""The benchmark in the house: learned proposals against blind ones, K, bonus, and size."""

from __future__ import annotations

from tellback.agents import LORIL, Blind, Greedy, LogLinear, ModelAgentSpec, Proposing, Uniform
from tellback.agents.recommended import recommended
from tellback.roles import AgentSpec
from tellback.trajectories.plan import Bar, Condition, Trajectories
from tellback.worlds.house import House

MARKS = (0, 100, 300, 1_000, 3_000, 10_000)
PROPOSALS, SIZES, BONUS, WORDINGS = (
    "Proposals, 64 candidates",
    "Number of candidates",
    "Bonus against greedy",
    "Requests in wordings that no teacher uses",
)
WAYPOINTS, MOVES = "learned waypoints", "learned moves"


def house() -> Trajectories:
    """All conditions and bars."""
    world = House()
    chooser = _chooser(world)

    def agent(proposal: Blind | LogLinear, k: int = 64) -> AgentSpec:
        return Proposing(chooser, proposal, k)

    learned = agent(LogLinear("waypoints"))
    proposals = {
        WAYPOINTS: learned,
        MOVES: agent(LogLinear("moves")),
        "random waypoints": agent(Blind("waypoints")),
        "shortest paths to random cells": agent(Blind("cells")),
        "uniform walks": agent(Blind()),
        "random play": Uniform(),
    }
    shorter = MARKS[:-2]
    bonus: dict[str, ModelAgentSpec] = {
        "greedy": chooser,
        "LORIL, k = 0.01": LORIL(k=0.01, model=chooser.model),
        "LORIL, k = 0.1": LORIL(k=0.1, model=chooser.model),
    }
    disjoint = House(wordings="disjoint")
    conditions = (
        *(Condition(PROPOSALS, name, world, one, MARKS) for name, one in proposals.items()),
        *(
            Condition(SIZES, f"K = {k}", world, agent(LogLinear("waypoints"), k), shorter, 0.25)
            for k in (1, 4, 16, 64, 256)
        ),
        *(
            Condition(BONUS, name, world, Proposing(one, LogLinear("waypoints")), shorter, 0.5)
            for name, one in bonus.items()
        ),
        Condition(WORDINGS, WAYPOINTS, disjoint, learned, shorter, 0.5),
    )
    bars = (
        Bar(PROPOSALS, WAYPOINTS, 1_000, "success", 0.95),
        Bar(PROPOSALS, WAYPOINTS, 1_000, "reward", 0.90),
        Bar(PROPOSALS, WAYPOINTS, 10_000, "success", 0.98),
        Bar(PROPOSALS, WAYPOINTS, 10_000, "reward", 0.98),
        Bar(PROPOSALS, MOVES, 10_000, "success", 0.92),
    )
    return Trajectories("house", "The house: paths that a person describes", conditions, bars)


def _chooser(world: House) -> ModelAgentSpec:
    """Who chooses among candidates: as recommended."""
    found = recommended(world).resolved(world.facts)
    return found.agent if isinstance(found, Proposing) else Greedy()
