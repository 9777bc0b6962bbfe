"""A world that shows, a round later, what the best response would have been."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from tellback.matching import Match, Same
from tellback.roles import (
    DemonstratedContext,
    Exchange,
    Instruction,
    Simulation,
    Task,
    Teacher,
    Truth,
    World,
)
from tellback.worlds.wrapper import WrapperSpec


@dataclass(frozen=True)
class Demonstrated(WrapperSpec):
    """Another world with demonstrations: every context also shows the task of the round before.

    For agents that learn by imitation, which hindsight descriptions are to be held against. A
    demonstration needs an expert, and a description only somebody who watches. Other agents
    play here as in the world itself, if they do not look at contexts.

    Parameters
    ----------
    world : WorldSpec
        The world, which must have a truth.
    """

    def build(self, rng: np.random.Generator) -> Simulation:
        """Put the expert beside the world."""
        inner, truth = self._within(rng)
        within = _Within(inner.teacher, truth)
        return Simulation(_Showing(inner.world, truth), within, within)


class _Showing:
    """Presents the world's tasks, and the best response to the one before."""

    def __init__(self, world: World, truth: Truth) -> None:
        self.facts = world.facts
        self._world = world
        self._truth = truth
        self._past = _Own(())
        wanted = getattr(world, "memory", None)
        self.memory: int | None = None if wanted is None else max(1, wanted)

    @property
    def match(self) -> Match:
        matches: Match = getattr(self._world, "match", Same())
        return matches

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        if history is not self._past.shown:  # the same object for the same past
            self._past = _Own(history)
        task = self._world.task(t, self._past, rng)
        if not history:
            return task._replace(context=DemonstratedContext(task.context))
        before = self._past[-1].task
        rewards = [self._truth.reward(before, y) for y in range(len(before.responses))]
        return task._replace(
            context=DemonstratedContext(task.context, before, int(np.argmax(rewards)))
        )


class _Within:
    """The world's teacher and truth, who see its own contexts."""

    def __init__(self, teacher: Teacher, truth: Truth) -> None:
        self._teacher = teacher
        self._truth = truth
        self.by_meaning = bool(getattr(truth, "by_meaning", False))

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Instruction | None:
        return self._teacher.describe(context.scene, response, rng)

    def reward(self, task: Task, response: Any) -> float:
        return self._truth.reward(task._replace(context=task.context.scene), response)

    def best(self, task: Task) -> float:
        return self._truth.best(task._replace(context=task.context.scene))


class _Own(Sequence[Exchange]):
    """The past as the world itself presented it, of which no more is made than is read."""

    def __init__(self, shown: Sequence[Exchange]) -> None:
        self.shown = shown

    def __len__(self) -> int:
        return len(self.shown)

    def __iter__(self) -> Iterator[Exchange]:
        return map(_own, self.shown)

    @overload
    def __getitem__(self, which: int) -> Exchange: ...

    @overload
    def __getitem__(self, which: slice) -> list[Exchange]: ...

    def __getitem__(self, which: int | slice) -> Exchange | list[Exchange]:
        if isinstance(which, slice):
            return [_own(past) for past in self.shown[which]]
        return _own(self.shown[which])


def _own(past: Exchange) -> Exchange:
    return past._replace(task=past.task._replace(context=past.task.context.scene))
