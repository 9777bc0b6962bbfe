"""The benchmark in BabyAI: four levels, macro steps and primitive ones."""

from __future__ import annotations

from tellback.agents import Blind, LogLinear, Proposing, Uniform
from tellback.agents.recommended import recommended
from tellback.trajectories.plan import Bar, Condition, Trajectories
from tellback.worlds.babyai import BabyAI

LEVELS = {
    "GoToLocal": (0, 30, 100, 300),
    "PickupLoc": (0, 100, 300, 1_000),
    "PutNextLocal": (0, 100, 300, 1_000),
    "GoToSeqS5R2": (0, 100, 300, 1_000, 3_000, 10_000),
}
"""The levels, and when agents are examined there."""

MACRO, PRIMITIVE = "learned macro steps", "learned primitive steps"
LONG = (0, 100, 300, 1_000, 3_000, 10_000)


def babyai() -> Trajectories:
    """All conditions and bars."""
    conditions = []
    for level, marks in LEVELS.items():
        world = BabyAI(level=level)
        best = recommended(world)
        assert isinstance(best, Proposing)

        def drawn(proposal: Blind | LogLinear, best: Proposing = best) -> Proposing:
            return best.with_settings({"proposal": proposal})

        conditions += [
            Condition(level, MACRO, world, drawn(LogLinear("waypoints")), marks),
            Condition(level, "random macro steps", world, drawn(Blind("waypoints")), marks, 0.25),
            Condition(level, "random play", world, Uniform(), marks[:1]),
        ]
        if level == "PutNextLocal":
            moves = drawn(LogLinear("moves"))
            conditions.append(Condition(level, PRIMITIVE, world, moves, LONG))
    bars = (
        Bar("GoToLocal", MACRO, 100, "success", 0.99),
        Bar("PickupLoc", MACRO, 300, "success", 0.97),
        Bar("PickupLoc", MACRO, 1_000, "success", 0.99),
        Bar("PutNextLocal", MACRO, 300, "success", 0.98),
        Bar("PutNextLocal", MACRO, 1_000, "success", 1.0),
        Bar("PutNextLocal", PRIMITIVE, 10_000, "success", 0.90),
        Bar("GoToSeqS5R2", MACRO, 1_000, "success", 0.90),
        Bar("GoToSeqS5R2", MACRO, 10_000, "success", 0.95),
    )
    title = "BabyAI: missions that a teacher describes in hindsight"
    return Trajectories("babyai", title, tuple(conditions), bars)
