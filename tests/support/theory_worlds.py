"""Small worlds, and worlds around them."""

from __future__ import annotations

import numpy as np

from tellback import Listed, Run, Simulation, Task
from tellback.encoders import Thumbnail
from tellback.roles import WorldSpec
from tellback.streams import Stream
from tellback.worlds import Images, Synthetic
from tests.support.oracles import Floats

SMALL = Synthetic(instructions=5, responses=4, rank=3, seed=2)
PICTURES = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))


def begun(spec: WorldSpec, seed: int = 0) -> Simulation:
    return spec.build(np.random.default_rng(seed))


def listed(simulation: Simulation) -> Listed:
    responses: Listed = simulation.world.task(1, (), Stream(0, "world").at(1)).responses
    return responses


def rewards_of(simulation: Simulation) -> Floats:
    """P(x | y) of a world with one context, a row an instruction."""
    responses, truth = listed(simulation), simulation.truth
    assert truth is not None
    assert simulation.world.facts.instructions is not None
    return np.array(
        [
            [truth.reward(Task(0, x, responses), y) for y in range(len(responses))]
            for x in range(simulation.world.facts.instructions)
        ]
    )


# The adversary.


def costs_by_hand(run: Run, t: int, instructions: int) -> Floats:
    """What each instruction cost when it was last asked for before round t, from 0."""
    costs = np.full(instructions, np.inf)
    for earlier in range(t):
        costs[run.instructions[earlier]] = run.regrets[earlier]
    return costs
