"""Simulations for trials: copies, so that the user's object stays unchanged."""

from __future__ import annotations

import copy
from itertools import islice
from typing import Any

import numpy as np

from tellback.agents import Uniform
from tellback.protocol import rounds
from tellback.roles import Simulation, Task, WorldSpec
from tellback.streams import Streams


def simulated(world: Any) -> Simulation:
    """A spec brought to life, or a copy of what is live already."""
    if isinstance(world, WorldSpec):
        return world.build(Streams(1).init("world"))
    alone = copy.deepcopy(world)
    return alone if isinstance(alone, Simulation) else Simulation(alone, alone, alone)


def sample_tasks(simulation: Simulation, count: int) -> list[Task]:
    """The tasks that the world presents to an agent which acts at random, undescribed."""
    alone = Simulation(copy.deepcopy(simulation.world), _Silence(), None)
    return [finished.task for finished in islice(rounds(alone, Uniform(), seed=1), count)]


class _Silence:
    """A teacher that says nothing: tasks can be had even where the world's own is faulty."""

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> None:
        return None


def values_in(thing: Any) -> Any:
    """What a context holds now, in nested tuples: equal later if nothing was written into it."""
    if isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
        return thing.shape, str(thing.dtype), thing.tobytes()
    if isinstance(thing, dict):
        return tuple((name, values_in(value)) for name, value in thing.items())
    if isinstance(thing, list | tuple | np.ndarray):
        return tuple(map(values_in, thing))
    if hasattr(thing, "__dict__") and not isinstance(thing, type):
        return type(thing).__name__, values_in(vars(thing))
    return thing
