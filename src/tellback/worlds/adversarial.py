"""A wrapper that asks for the instruction with the highest regret."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, one_of
from tellback.roles import Exchange, Simulation, Task, Truth, World
from tellback.specs import Data
from tellback.worlds.wrapper import WrapperSpec

INSTRUCTIONS, BOTH = "instructions", "both"


@dataclass(frozen=True)
class Adversarial(WrapperSpec):
    """A world with tasks chosen against the agent, from the history.

    Protocol 1 lets the world choose context and instruction "possibly adversarially". This one
    knows the truth. It asks for the instruction with the highest regret when it was last asked;
    instructions that were never asked come first. Ties are broken at random.

    Parameters
    ----------
    world : WorldSpec
        The inner world, with a table of instructions and a truth.
    picks : "instructions" or "both"
        Whether to pick only instructions, or contexts too: then the regret is of each pair of
        context and instruction. That needs contexts that come again: numbers or words.
    """

    picks: Annotated[str, partial(one_of, options=(INSTRUCTIONS, BOTH))] = INSTRUCTIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.facts.language:
            raise SettingError(
                f"An adversary needs a table of instructions; {self.world.kind} uses sentences."
            )

    def to_data(self) -> Data:
        """The spec as plain data, without ``picks`` where it is the default."""
        data = super().to_data()
        if self.picks == INSTRUCTIONS:  # runs from before this setting keep their identity
            del data["picks"]
        return data

    def build(self, rng: np.random.Generator) -> Simulation:
        """Build the inner world, and an adversary who knows its truth."""
        inner, truth = self._build_inner(rng)
        adversary = Adversary if self.picks == INSTRUCTIONS else ContextAdversary
        return Simulation(adversary(inner.world, truth), inner.teacher, truth)


class Adversary:
    """Presents the world's context, and the instruction with the highest regret."""

    memory: ClassVar[None] = None

    def __init__(self, world: World, truth: Truth) -> None:
        self.facts = world.facts
        assert self.facts.instructions is not None
        self.inner = world
        self._truth = truth
        self._regrets = np.full(self.facts.instructions, np.inf)
        self._history: Sequence[Exchange] = ()
        self._read = 0  # exchanges of the history that were read

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A task that depends on the history alone."""
        self._read_on(history)
        return self._picked(self.inner.task(t, history, rng), rng)

    def _picked(self, task: Task, rng: np.random.Generator) -> Task:
        """The world's task with the instruction of the highest regret."""
        return task._replace(instruction=_worst(self._regrets, rng))

    def _record(self, task: Task, regret: float) -> None:
        """Record the regret of a task."""
        self._regrets[_row(task)] = regret

    def _reset(self) -> None:
        """Drop all records."""
        self._regrets[:] = np.inf

    def _read_on(self, history: Sequence[Exchange]) -> None:
        if history is not self._history or len(history) < self._read:  # another history
            self._reset()
            self._history, self._read = history, 0
        # Mostly one exchange is new. A slice would copy the whole history.
        fresh = [history[-1]] if len(history) == self._read + 1 else history[self._read :]
        for task, response, _ in fresh:
            self._record(task, self._truth.best(task) - self._truth.reward(task, response))
        self._read = len(history)


class ContextAdversary(Adversary):
    """Presents the pair of context and instruction with the highest regret.

    It picks from the contexts of the history and the one that the world draws now.
    """

    def __init__(self, world: World, truth: Truth) -> None:
        super().__init__(world, truth)
        self._met: dict[Hashable, tuple[Task, Array]] = {}  # by context: a task, and regrets

    def _picked(self, task: Task, rng: np.random.Generator) -> Task:
        met = {**self._met}
        met.setdefault(_context_key(task), (task, np.full_like(self._regrets, np.inf)))
        regrets = np.concatenate([of_one for _, of_one in met.values()])
        which, x = divmod(_worst(regrets, rng), len(self._regrets))
        return [*met.values()][which][0]._replace(instruction=x)

    def _record(self, task: Task, regret: float) -> None:
        new = task, np.full_like(self._regrets, np.inf)
        _, regrets = self._met.setdefault(_context_key(task), new)
        regrets[_row(task)] = regret

    def _reset(self) -> None:
        self._met = {}


def _worst(regrets: Array, rng: np.random.Generator) -> int:
    """The index of the highest, at random under ties."""
    worst = np.flatnonzero(regrets >= regrets.max())
    return int(worst[int(rng.random() * len(worst))])


def _row(task: Task) -> int:
    """The instruction as a row of the table."""
    assert not isinstance(task.instruction, str)
    return task.instruction


def _context_key(task: Task) -> Hashable:
    """The context, as a key."""
    context: Any = task.context
    if not isinstance(context, int | float | str | None):
        raise SettingError(
            f"picks='both' needs contexts that come again, numbers or words, and a context here "
            f"is of type {type(context).__name__}: use picks='instructions', or a world with a "
            "number of contexts."
        )
    return context
