"""Simulations for trials: copies, so that what is tried stays as it was."""

from __future__ import annotations

import copy
from typing import Any

from tellback.agents import Uniform
from tellback.protocol import rounds
from tellback.roles import Simulation, Task, WorldSpec
from tellback.streams import Streams


def simulated(world: Any) -> Simulation:
    """A spec brought to life, or a copy of what is live already."""
    if isinstance(world, WorldSpec):
        return world.begin(Streams(1).birth("world"))
    alone = copy.deepcopy(world)
    return alone if isinstance(alone, Simulation) else Simulation(alone, alone, alone)


def sample_tasks(simulation: Simulation, count: int) -> list[Task]:
    """The tasks that the world presents to an agent which acts at random."""
    played = zip(range(count), rounds(copy.deepcopy(simulation), Uniform(), seed=1), strict=False)
    return [finished.task for _, finished in played]
