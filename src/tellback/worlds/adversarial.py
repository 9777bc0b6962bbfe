"""A world that asks for what the agent is worst at."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, one_of
from tellback.roles import (
    Exchange,
    Simulation,
    Task,
    Truth,
    World,
)
from tellback.specs import Data
from tellback.worlds.wrapper import WrapperSpec

INSTRUCTIONS, BOTH = "instructions", "both"


@dataclass(frozen=True)
class Adversarial(WrapperSpec):
    """Another world, but tasks are picked from the history, against the agent.

    Protocol 1 lets the world choose context and instruction "possibly adversarially". This one
    knows the truth and asks for what cost the agent most the last time it was asked for; what
    was not asked for yet comes first. Among equals, one at random.

    Parameters
    ----------
    world : WorldSpec
        The world, with a table of instructions and a truth.
    picks : "instructions" or "both"
        Whether contexts are the world's own, or picked too: each pair of context and instruction
        then has a cost of its own. That needs contexts which come again, numbers or words.
    """

    picks: str = INSTRUCTIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_validated(picks=one_of("picks", self.picks, [INSTRUCTIONS, BOTH]))
        if self.facts.language:
            raise SettingError(
                f"An adversary needs a table of instructions; {self.world.kind} uses sentences."
            )

    def to_data(self) -> Data:
        """The spec as plain data; as it was before there was a choice, where none was made."""
        data = super().to_data()
        if self.picks == INSTRUCTIONS:  # runs keep their identity
            del data["picks"]
        return data

    def build(self, rng: np.random.Generator) -> Simulation:
        """Put the adversary before the world."""
        inner, truth = self._within(rng)
        adversary = Adversary if self.picks == INSTRUCTIONS else ContextAdversary
        return Simulation(adversary(inner.world, truth), inner.teacher, truth)


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
        return self._picked(self._world.task(t, history, rng), rng)

    def _picked(self, task: Task, rng: np.random.Generator) -> Task:
        """The world's task with what went worst in place of what it asked for."""
        return task._replace(instruction=_worst(self._costs, rng))

    def _note(self, task: Task, cost: float) -> None:
        """Remember what a task cost."""
        self._costs[_number(task)] = cost

    def _forget(self) -> None:
        """Remember nothing."""
        self._costs[:] = np.inf

    def _read_on(self, history: Sequence[Exchange]) -> None:
        if history is not self._past or len(history) < self._read:  # another than was read
            self._forget()
            self._past, self._read = history, 0
        # The latest alone, as it is mostly: a slice would copy all there was.
        fresh = [history[-1]] if len(history) == self._read + 1 else history[self._read :]
        for task, response, _ in fresh:
            self._note(task, self._truth.best(task) - self._truth.reward(task, response))
        self._read = len(history)


class ContextAdversary(Adversary):
    """Presents the context and the instruction that went worst together.

    The contexts that it can pick are those of the past and the one that the world draws now.
    """

    def __init__(self, world: World, truth: Truth) -> None:
        super().__init__(world, truth)
        self._met: dict[Hashable, tuple[Task, Array]] = {}  # a task and the costs in each context

    def _picked(self, task: Task, rng: np.random.Generator) -> Task:
        known = {**self._met}
        known.setdefault(_name(task), (task, np.full_like(self._costs, np.inf)))
        costs = np.concatenate([of_one for _, of_one in known.values()])
        which, x = divmod(_worst(costs, rng), len(self._costs))
        return [*known.values()][which][0]._replace(instruction=x)

    def _note(self, task: Task, cost: float) -> None:
        new = task, np.full_like(self._costs, np.inf)
        _, costs = self._met.setdefault(_name(task), new)
        costs[_number(task)] = cost

    def _forget(self) -> None:
        self._met = {}


def _worst(costs: Array, rng: np.random.Generator) -> int:
    """One of the highest, at random."""
    worst = np.flatnonzero(costs >= costs.max())
    return int(worst[int(rng.random() * len(worst))])


def _number(task: Task) -> int:
    """The instruction, of which there is a table."""
    assert not isinstance(task.instruction, str)
    return task.instruction


def _name(task: Task) -> Hashable:
    """The context, by which it is known again."""
    context: Any = task.context
    if not isinstance(context, int | float | str | None):
        raise SettingError(
            f"picks='both' needs contexts that come again, numbers or words, and a context here "
            f"is of type {type(context).__name__}: use picks='instructions', or a world with a "
            "number of contexts."
        )
    return context
