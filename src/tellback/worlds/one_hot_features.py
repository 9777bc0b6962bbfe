"""A world that does not show g: of a response one knows only which it is."""

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
    """A synthetic world whose features are one-hot: g has to be learned as F has.

    The paper assumes that g is known. Here it is not: every response of every context is a
    coordinate of its own. That P(x | y, s) is of low rank is still true, and still of use.

    Parameters
    ----------
    world : Synthetic
        The world, with one context or a number of them.

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
                "world must have a number of contexts: where every round has new responses "
                "and no features, nothing can be learned of them."
            )

    @property
    def facts(self) -> Facts:
        """As many features as there are responses in all contexts together."""
        contexts, responses = self._sizes
        within = self.world.facts
        return Facts(contexts * responses, within.instructions, within.fixed_responses)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Put one-hot features in the place of g."""
        inner, truth = self._within(rng)
        contexts, responses = self._sizes
        one_hot = np.eye(contexts * responses)
        listed = [Listed(rows) for rows in np.split(one_hot, contexts)]
        return Simulation(_Withholding(inner.world, self.facts, listed), inner.teacher, truth)

    @property
    def _sizes(self) -> tuple[int, int]:
        world: Any = self.world
        return world.contexts, world.responses


class _Withholding:
    """Presents the tasks of a world with other features, by the number of the context."""

    def __init__(self, world: World, facts: Facts, listed: Sequence[Listed]) -> None:
        self.facts = facts
        self.memory: int | None = getattr(world, "memory", None)
        self._world = world
        self._listed = listed

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        task = self._world.task(t, history, rng)
        return task._replace(responses=self._listed[task.context])
