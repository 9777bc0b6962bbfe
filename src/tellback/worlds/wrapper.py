"""Worlds that put something between another world and the agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tellback.errors import SettingError
from tellback.roles import Facts, Preparing, Simulation, Truth, WorldSpec
from tellback.worlds.synthetic import Synthetic


@dataclass(frozen=True)
class WrapperSpec(WorldSpec):
    """The base of worlds that hold another, whose truth they know.

    Parameters
    ----------
    world : WorldSpec
        The world within.
    """

    abstract: ClassVar[bool] = True

    world: WorldSpec = field(default_factory=Synthetic)

    def __post_init__(self) -> None:
        if not isinstance(self.world, WorldSpec):
            raise SettingError(f"world must be the spec of a world, not {self.world!r}.")

    @property
    def facts(self) -> Facts:
        """Those of the world within."""
        return self.world.facts

    def prepare(self, progress: Preparing | None = None) -> None:
        """Prepare the world within."""
        self.world.prepare(progress)

    def _within(self, rng: np.random.Generator) -> tuple[Simulation, Truth]:
        """The world within, brought to life, and its truth."""
        inner = self.world.build(rng)
        if inner.truth is None:
            raise SettingError(f"{self.kind} needs a truth, and {self.world.kind} has none.")
        return inner, inner.truth
