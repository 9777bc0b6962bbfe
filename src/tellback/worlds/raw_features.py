"""A world whose responses are seen as raw vectors, of which g is an unknown function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, one_of, whole
from tellback.responses import Listed
from tellback.roles import Exchange, Facts, Instruction, Simulation, Task, Teacher, Truth, World
from tellback.theory import softmax
from tellback.worlds.synthetic import Synthetic
from tellback.worlds.wrapper import WrapperSpec

UNITS = ("tanh", "wave")


def _fresh() -> Synthetic:
    return Synthetic(instructions=50, responses=20, rank=5, contexts="fresh")


@dataclass(frozen=True)
class RawFeatures(WrapperSpec):
    """A synthetic world in which every round's responses are new vectors of raw numbers.

    Raw vectors are standard Gaussians. A network of one hidden layer, drawn at random, makes
    logits of them, and g(y, s) is their softmax at the temperature of the world within. The
    agent is shown the vectors alone; F, the responses' number and the instructions are those
    of the world within.

    Parameters
    ----------
    world : Synthetic
        The world, with fresh contexts.
    dim : int
        The size of a raw vector.
    hidden : int
        The number of hidden units of the network that nobody is shown.
    units : "tanh" or "wave"
        What they are. Of tanh a linear model learns a good part; of waves, cosines with a
        phase, next to nothing.
    """

    world: Synthetic = field(default_factory=_fresh)
    dim: int = 8
    hidden: int = 16
    units: str = "tanh"

    def __post_init__(self) -> None:
        super().__post_init__()
        world: object = self.world
        if not isinstance(world, Synthetic) or world.contexts != "fresh":
            raise SettingError(
                "world must be synthetic with fresh contexts, not "
                f"{self.world!r}: where responses come again, use one-hot-features."
            )
        self._set_validated(
            dim=whole("dim", self.dim),
            hidden=whole("hidden", self.hidden),
            units=one_of("units", self.units, UNITS),
        )

    @property
    def facts(self) -> Facts:
        """Those of the world within, but for the size of the features."""
        return Facts(self.dim, self.world.facts.instructions)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Draw the world within, and the network between what is seen and g."""
        inner, truth = self._within(rng)
        first = rng.standard_normal((self.dim, self.hidden)) * (2 / np.sqrt(self.dim))
        second = rng.standard_normal((self.hidden, self.world.rank)) * np.sqrt(2 / self.hidden)
        phases = rng.uniform(0, 2 * np.pi, self.hidden)

        def g(raw: Array) -> Array:
            sums = raw @ first
            units = np.tanh(sums) if self.units == "tanh" else np.cos(sums + phases)
            return softmax(units @ second, self.world.temperature, axis=1)

        seeing = _Seeing(inner.teacher, truth, g)
        shown = _Showing(inner.world, self.facts, self.world.responses)
        return Simulation(shown, seeing, seeing)


class _Showing:
    """Presents raw vectors, and the instructions of a world."""

    def __init__(self, world: World, facts: Facts, responses: int) -> None:
        self.facts = facts
        self.memory: int | None = getattr(world, "memory", None)
        self._world = world
        self._shape = (responses, facts.dim)

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        instruction = self._world.task(t, history, rng).instruction
        responses = Listed(rng.standard_normal(self._shape))
        return Task(responses.matrix, instruction, responses)


class _Seeing:
    """The teacher and the truth of a world, who see g where the agent sees raw vectors."""

    def __init__(self, teacher: Teacher, truth: Truth, g: Callable[[Array], Array]) -> None:
        self._teacher = teacher
        self._truth = truth
        self._network = g
        self._latest: tuple[Any, Array] = (None, np.empty(0))

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Instruction | None:
        return self._teacher.describe(self._g(context), response, rng)

    def reward(self, task: Task, response: Any) -> float:
        return self._truth.reward(task._replace(context=self._g(task.context)), response)

    def best(self, task: Task) -> float:
        return self._truth.best(task._replace(context=self._g(task.context)))

    def _g(self, context: Any) -> Array:
        seen, g = self._latest
        if context is not seen:  # asked for three times a round
            g = Listed(self._network(context)).matrix
            self._latest = (context, g)
        return g
