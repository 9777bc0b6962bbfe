"""A small study, and one run, for tests of how they are stored."""

from __future__ import annotations

from typing import Any

from tellback.agents import LORIL, Greedy, Uniform
from tellback.lab import RunSpec, Study
from tellback.roles import AgentSpec
from tellback.worlds import Synthetic

WORLD = Synthetic(instructions=20, responses=5, rank=3)
RUN = RunSpec(WORLD, LORIL(k=0.5), 6, 7)
AGENTS: dict[str, tuple[AgentSpec, ...]] = {
    "LORIL": (LORIL(k=0.1), LORIL(k=10.0)),
    "greedy": (Greedy(),),
    "random": (Uniform(),),
}


def a_study(**changes: Any) -> Study:
    parts: dict[str, Any] = {
        "name": "small",
        "world": WORLD,
        "agents": AGENTS,
        "rounds": 30,
        "tuning": (10, 11),
        "reported": (0, 1, 2),
    }
    return Study(**{**parts, **changes})
