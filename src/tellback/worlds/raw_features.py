"""A wrapper that hides g: responses are raw vectors, and g is an unknown function of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, one_of
from tellback.responses import Listed
from tellback.roles import Exchange, Facts, Simulation, Task, World
from tellback.specs import Count
from tellback.theory import softmax
from tellback.worlds.synthetic import Synthetic
from tellback.worlds.wrapper import InnerTeacherAndTruth, WrapperSpec


@dataclass(frozen=True)
class RawFeatures(WrapperSpec):
    """A synthetic world with new raw vectors as responses in every round.

    Raw vectors are standard Gaussians. A random network of one hidden layer maps them to logits,
    and g(y, s) is their softmax at the temperature of the inner world. The agent gets only the
    raw vectors. F, the number of responses and the instructions are those of the inner world.

    Parameters
    ----------
    world : Synthetic
        The inner world, with fresh contexts.
    dim : int
        The size of a raw vector.
    hidden : int
        The number of hidden units of the hidden network.
    units : "tanh" or "wave"
        The activation function. A linear model approximates tanh units well, and waves
        (cosines with a phase) hardly at all.
    """

    world: Synthetic = field(
        default_factory=lambda: Synthetic(instructions=50, responses=20, rank=5, contexts="fresh")
    )
    dim: Count = 8
    hidden: Count = 16
    units: Annotated[str, partial(one_of, options=("tanh", "wave"))] = "tanh"

    def __post_init__(self) -> None:
        super().__post_init__()
        world: object = self.world
        if not isinstance(world, Synthetic) or world.contexts != "fresh":
            raise SettingError(
                "world must be synthetic with fresh contexts, not "
                f"{self.world!r}: for responses that come again, use one-hot-features."
            )

    @property
    def facts(self) -> Facts:
        """Those of the inner world, except for the size of the features."""
        return Facts(self.dim, self.world.facts.instructions)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Draw the inner world, and the network from raw vectors to g."""
        inner, truth = self._build_inner(rng)
        first = rng.standard_normal((self.dim, self.hidden)) * (2 / np.sqrt(self.dim))
        second = rng.standard_normal((self.hidden, self.world.rank)) * np.sqrt(2 / self.hidden)
        phases = rng.uniform(0, 2 * np.pi, self.hidden)

        def g(raw: Array) -> Array:
            sums = raw @ first
            units = np.tanh(sums) if self.units == "tanh" else np.cos(sums + phases)
            return softmax(units @ second, self.world.temperature, axis=1)

        judge = InnerTeacherAndTruth(inner.teacher, truth, _LatestG(g))
        world = RawFeaturesWorld(inner.world, self.facts, self.world.responses)
        return Simulation(world, judge, judge)


class RawFeaturesWorld:
    """Presents raw vectors, with the instructions of the inner world."""

    def __init__(self, world: World, facts: Facts, responses: int) -> None:
        self.facts = facts
        self.memory: int | None = getattr(world, "memory", None)
        self._world = world
        self._shape = (responses, facts.dim)

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """New raw vectors, and the inner world's instruction."""
        instruction = self._world.task(t, history, rng).instruction
        responses = Listed(rng.standard_normal(self._shape))
        return Task(responses.matrix, instruction, responses)


class _LatestG:
    """g of a context, with a cache of the latest: each round needs it three times."""

    def __init__(self, g: Callable[[Array], Array]) -> None:
        self._g = g
        self._latest: tuple[Any, Array] = (None, np.empty(0))

    def __call__(self, context: Any) -> Array:
        raw, g = self._latest
        if context is not raw:
            g = Listed(self._g(context)).matrix
            self._latest = (context, g)
        return g
