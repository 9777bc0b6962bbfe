"""Simulations for trials: copies, so that what is tried stays as it was."""

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
        return world.begin(Streams(1).birth("world"))
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


def same_values(one: Any, other: Any) -> bool:
    """Whether two contexts hold the same, array by array."""
    return _flat(one) == _flat(other)


def _flat(thing: Any) -> Any:
    """Nested tuples of what a thing holds, in which arrays are their bytes."""
    if isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
        return thing.shape, str(thing.dtype), thing.tobytes()
    if isinstance(thing, dict):
        return tuple((name, _flat(value)) for name, value in thing.items())
    if isinstance(thing, list | tuple | np.ndarray):
        return tuple(map(_flat, thing))
    if hasattr(thing, "__dict__") and not isinstance(thing, type):
        return type(thing).__name__, _flat(vars(thing))
    return thing
