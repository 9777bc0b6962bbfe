"""A wrapper that hides g: the features of a response are one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tellback.errors import SettingError
from tellback.responses import Listed
from tellback.roles import Exchange, Facts, Simulation, Task, World
from tellback.worlds.synthetic import Synthetic
from tellback.worlds.wrapper import WrapperSpec


@dataclass(frozen=True)
class OneHotFeatures(WrapperSpec):
    """A synthetic world with one-hot features: g has to be learned, as well as F.

    The paper assumes that g is known. Here it is not: every response of every context has its
    own coordinate. P(x | y, s) is still of low rank, which a model can use.

    Parameters
    ----------
    world : Synthetic
        The inner world, with one context or a number of them.

    Examples
    --------
    >>> OneHotFeatures(Synthetic(instructions=200, responses=100, rank=5)).facts.dim
    100
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.world, Synthetic):
            raise SettingError(f"world must be a synthetic world, not {self.world!r}.")
        if isinstance(self.world.contexts, str):
            raise SettingError(
                "world must have a number of contexts: if responses are new in every round and "
                "have no features, nothing can be learned about them."
            )

    @property
    def facts(self) -> Facts:
        """As many features as responses in all contexts together."""
        contexts, responses = self._sizes
        inner = self.world.facts
        return Facts(contexts * responses, inner.instructions, inner.fixed_responses)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Build the inner world, and replace g by one-hot features."""
        inner, truth = self._build_inner(rng)
        contexts, responses = self._sizes
        one_hot = np.eye(contexts * responses)
        listed = [Listed(rows) for rows in np.split(one_hot, contexts)]
        world = OneHotFeaturesWorld(inner.world, self.facts, listed)
        return Simulation(world, inner.teacher, truth)

    @property
    def _sizes(self) -> tuple[int, int]:
        world: Any = self.world
        return world.contexts, world.responses


class OneHotFeaturesWorld:
    """Presents the tasks of the inner world with other features, listed by context."""

    def __init__(self, world: World, facts: Facts, listed: Sequence[Listed]) -> None:
        self.facts = facts
        self.memory: int | None = getattr(world, "memory", None)
        self._world = world
        self._listed = listed

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """The inner world's task with one-hot features."""
        task = self._world.task(t, history, rng)
        return task._replace(responses=self._listed[task.context])
