"""The benchmark in BabyAI: four levels with bars, some harder ones, large steps and single ones."""

from __future__ import annotations

from tellback.agents import Blind, LogLinear, Uniform
from tellback.agents.proposals import ProposalSpec
from tellback.agents.recommended import recommended
from tellback.roles import AgentSpec
from tellback.trajectories.babyai_bot import Bot
from tellback.trajectories.plan import Bar, Condition, Trajectories
from tellback.worlds.babyai import BabyAI

LEVELS = {
    "GoToLocal": (0, 30, 100, 300),
    "PickupLoc": (0, 100, 300, 1_000),
    "PutNextLocal": (0, 100, 300, 1_000),
    "GoToSeqS5R2": (0, 100, 300, 1_000, 3_000, 10_000),
}
"""The levels with bars, and when agents are examined there."""

HARDER = {
    "Pickup": 128,
    "GoTo": 128,
    "PutNextS7N4": 64,
    "MoveTwoAcrossS5N2": 64,
}
"""Levels with several rooms and doors, or with two tasks in a row, and the steps allowed there."""

BOT, RANDOM = "minigrid's bot, which knows the language", "random play"

MACRO, PRIMITIVE = "learned macro steps", "learned primitive steps"
LONG = (0, 100, 300, 1_000, 3_000, 10_000)


def babyai() -> Trajectories:
    """All conditions and bars."""
    conditions: list[Condition] = []
    for level, marks in LEVELS.items():
        conditions += _of_level(BabyAI(level=level), marks, 1.0)
    world = BabyAI(level="PutNextLocal")
    moves = _agent(world, LogLinear("moves"))
    conditions.append(Condition(world.level, PRIMITIVE, world, moves, LONG))
    for level, steps in HARDER.items():
        conditions += _of_level(BabyAI(level=level, steps=steps), (0, 100, 300, 1_000), 0.25)
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


def _of_level(world: BabyAI, marks: tuple[int, ...], share: float) -> list[Condition]:
    """Learned large steps, random ones, and what bounds them from above and below."""
    level, first = world.level, (1,)  # who learns nothing is examined once
    learned, blind = (_agent(world, one) for one in (LogLinear("waypoints"), Blind("waypoints")))
    return [
        Condition(level, MACRO, world, learned, marks, share),
        Condition(level, "random macro steps", world, blind, marks, 0.25 * share),
        Condition(level, BOT, world, Bot(level, world.steps), first, share),
        Condition(level, RANDOM, world, Uniform(), first, share),
    ]


def _agent(world: BabyAI, proposal: ProposalSpec) -> AgentSpec:
    """As recommended for the world, with another proposal."""
    return recommended(world).with_settings({"proposal": proposal})
