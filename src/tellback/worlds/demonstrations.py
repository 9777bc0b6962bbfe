"""A wrapper that adds demonstrations: the best response to the previous task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.matching import Match, Same
from tellback.roles import DemonstratedContext, Exchange, Simulation, Task, Truth, World
from tellback.worlds.wrapper import InnerTeacherAndTruth, WrapperSpec


@dataclass(frozen=True)
class Demonstrations(WrapperSpec):
    """A world with demonstrations: contexts show the best response to the previous task.

    It is for agents that learn by imitation, for comparison with hindsight descriptions. A
    demonstration needs an expert; a description needs only an observer. Agents that ignore
    contexts play here as in the inner world.

    Parameters
    ----------
    world : WorldSpec
        The inner world, which must have a truth.
    """

    def build(self, rng: np.random.Generator) -> Simulation:
        """Build the inner world, and an expert who knows its truth."""
        inner, truth = self._build_inner(rng)
        judge = InnerTeacherAndTruth(inner.teacher, truth, _scene)
        return Simulation(DemonstrationsWorld(inner.world, truth), judge, judge)


class DemonstrationsWorld:
    """Presents the tasks of the inner world, with the best response to the previous task."""

    def __init__(self, world: World, truth: Truth) -> None:
        self.facts = world.facts
        self._world = world
        self._truth = truth
        self._history = _InnerHistory(())
        memory = getattr(world, "memory", None)
        self.memory: int | None = None if memory is None else max(1, memory)

    @property
    def match(self) -> Match:
        """That of the inner world."""
        matches: Match = getattr(self._world, "match", Same())
        return matches

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """The inner world's task; its context also has the demonstration."""
        if history is not self._history.outer:  # inner worlds expect one object per history
            self._history = _InnerHistory(history)
        task = self._world.task(t, self._history, rng)
        if not history:
            return task._replace(context=DemonstratedContext(task.context))
        before = self._history[-1].task
        best = int(np.argmax(self._rewards(before)))
        return task._replace(context=DemonstratedContext(task.context, before, best))

    def _rewards(self, task: Task) -> Sequence[float] | Array:
        """The reward of every response; some truths know them all at once."""
        count, all_at_once = len(task.responses), getattr(self._truth, "rewards", None)
        if all_at_once is not None:
            rewards: Array = all_at_once(task, np.arange(count))
            return rewards
        return [self._truth.reward(task, y) for y in range(count)]


class _InnerHistory(Sequence[Exchange]):
    """The history with the contexts of the inner world, converted only as far as it is read."""

    def __init__(self, outer: Sequence[Exchange]) -> None:
        self.outer = outer

    def __len__(self) -> int:
        return len(self.outer)

    def __iter__(self) -> Iterator[Exchange]:
        return map(_inner_exchange, self.outer)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            return [_inner_exchange(past) for past in self.outer[which]]
        return _inner_exchange(self.outer[which])


def _inner_exchange(past: Exchange) -> Exchange:
    return past._replace(task=past.task._replace(context=_scene(past.task.context)))


def _scene(context: DemonstratedContext) -> Any:
    return context.scene
