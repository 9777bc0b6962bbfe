"""A world that asks for what the agent is worst at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.errors import SettingError
from tellback.roles import (
    Exchange,
    Simulation,
    Task,
    Truth,
    World,
)
from tellback.worlds.within import WithinSpec


@dataclass(frozen=True)
class Adversarial(WithinSpec):
    """Another world, but instructions are picked from the history, against the agent.

    Protocol 1 lets the world choose "possibly adversarially". This one knows the truth and
    asks for the instruction that cost the agent most the last time it was asked for; what was
    not asked for yet comes first. Among equals, one at random.

    Parameters
    ----------
    world : WorldSpec
        The world, with a table of instructions and a truth.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.facts.language:
            raise SettingError(
                f"An adversary needs a table of instructions; {self.world.kind} uses sentences."
            )

    def begin(self, rng: np.random.Generator) -> Simulation:
        """Put the adversary before the world."""
        inner, truth = self._within(rng)
        return Simulation(Adversary(inner.world, truth), inner.teacher, truth)


class Adversary:
    """Presents the world's context, and the instruction that went worst.

    Parameters
    ----------
    world : World
        Where contexts come from.
    truth : Truth
        What the agent's responses cost.
    """

    memory: ClassVar[None] = None

    def __init__(self, world: World, truth: Truth) -> None:
        self.facts = world.facts
        assert self.facts.instructions is not None
        self._world = world
        self._truth = truth
        self._costs = np.full(self.facts.instructions, np.inf)
        self._past: Sequence[Exchange] = ()
        self._read = 0  # how much of that past

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A task that depends on the past: the costs follow from it alone."""
        self._read_on(history)
        task = self._world.task(t, history, rng)
        worst = np.flatnonzero(self._costs >= self._costs.max())
        x = int(worst[int(rng.random() * len(worst))])
        return task._replace(instruction=x)

    def _read_on(self, history: Sequence[Exchange]) -> None:
        if history is not self._past or len(history) < self._read:  # another than was read
            self._costs[:], self._past, self._read = np.inf, history, 0
        # The latest alone, as it is mostly: a slice would copy all there was.
        fresh = [history[-1]] if len(history) == self._read + 1 else history[self._read :]
        for task, response, _ in fresh:
            cost = self._truth.best(task) - self._truth.reward(task, response)
            self._costs[task.instruction] = cost
        self._read = len(history)
