"""Wrappers: worlds that change what another world shows the agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tellback.errors import SettingError
from tellback.roles import (
    Facts,
    Instruction,
    Preparing,
    Simulation,
    Task,
    Teacher,
    Truth,
    WorldSpec,
)
from tellback.worlds.synthetic import Synthetic


@dataclass(frozen=True)
class WrapperSpec(WorldSpec):
    """The base of worlds around an inner world, which must have a truth.

    Parameters
    ----------
    world : WorldSpec
        The inner world.
    """

    abstract: ClassVar[bool] = True

    world: WorldSpec = field(default_factory=Synthetic)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.world, WorldSpec):
            raise SettingError(f"world must be the spec of a world, not {self.world!r}.")

    @property
    def facts(self) -> Facts:
        """Those of the inner world."""
        return self.world.facts

    def prepare(self, progress: Preparing | None = None) -> None:
        """Prepare the inner world."""
        self.world.prepare(progress)

    def _build_inner(self, rng: np.random.Generator) -> tuple[Simulation, Truth]:
        """The live inner world, and its truth."""
        inner = self.world.build(rng)
        if inner.truth is None:
            raise SettingError(f"{self.kind} needs a truth, and {self.world.kind} has none.")
        return inner, inner.truth


class InnerTeacherAndTruth:
    """The teacher and the truth of the inner world, given contexts of the wrapper."""

    def __init__(self, teacher: Teacher, truth: Truth, inner_context: Callable[[Any], Any]) -> None:
        self._teacher = teacher
        self._truth = truth
        self._inner_context = inner_context
        self.by_meaning = bool(getattr(truth, "by_meaning", False))

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Instruction | None:
        """The description by the inner teacher."""
        return self._teacher.describe(self._inner_context(context), response, rng)

    def reward(self, task: Task, response: Any) -> float:
        """P(x_t | y, s_t) in the inner world."""
        return self._truth.reward(self._inner_task(task), response)

    def best(self, task: Task) -> float:
        """The largest P(x_t | y, s_t) in the inner world."""
        return self._truth.best(self._inner_task(task))

    def _inner_task(self, task: Task) -> Task:
        return task._replace(context=self._inner_context(task.context))
