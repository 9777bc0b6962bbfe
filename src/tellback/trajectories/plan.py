"""What a benchmark on trajectories runs: named conditions, each on some seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tellback.errors import SettingError
from tellback.roles import AgentSpec, WorldSpec
from tellback.trajectories.held_out import HeldOutRun

SEEDS = 20
TASKS = 300


@dataclass(frozen=True)
class Condition:
    """One agent in one world, on as many seeds as ``share`` of the benchmark's.

    Parameters
    ----------
    panel : str
        The figure or table it belongs to.
    name : str
        What it is called there.
    world, agent : WorldSpec, AgentSpec
        Who plays, and where.
    marks : tuple of int
        The numbers of descriptions at which it is examined.
    share : float
        The share of the seeds that it plays on.
    """

    panel: str
    name: str
    world: WorldSpec
    agent: AgentSpec
    marks: tuple[int, ...]
    share: float = 1.0


class Bar(NamedTuple):
    """What a condition must reach at a mark."""

    panel: str
    name: str
    mark: int
    measure: str
    at_least: float


class Growth(NamedTuple):
    """How regret may grow with the number of responses, over the conditions of a panel.

    Attributes
    ----------
    panel : str
        Its conditions differ in their world only.
    at_most : float
        How far from 0 the slope may be: that of log regret, summed up to the last mark, in the
        log number of responses.
    """

    panel: str
    at_most: float


class Fewer(NamedTuple):
    """How many times fewer descriptions one agent must need for another's final success."""

    panel: str
    quick: str
    slow: str
    times: float


@dataclass(frozen=True)
class Trajectories:
    """All runs of a benchmark on trajectories.

    Parameters
    ----------
    name, title : str
        Of its folder, and of its page.
    conditions : tuple of Condition
        What is compared.
    bars : tuple of Bar
        What must be reached.
    growth : Growth, optional
        How regret may grow with the number of responses.
    fewer : Fewer, optional
        How much quicker one agent must be than another.
    film : tuple of str, optional
        The panel and the name of a condition in a house, whose paths are drawn.
    seeds : tuple of int
        The seeds; settings were chosen on others.
    scale : float
        Below 1, there are fewer descriptions and tasks: a quick trial.
    """

    name: str
    title: str
    conditions: tuple[Condition, ...]
    bars: tuple[Bar, ...] = ()
    growth: Growth | None = None
    fewer: Fewer | None = None
    film: tuple[str, str] | None = None
    seeds: tuple[int, ...] = tuple(range(SEEDS))
    scale: float = 1.0

    def __post_init__(self) -> None:
        if len(set(self.seeds)) < max(2, len(self.seeds)):
            raise SettingError(f"seeds must be two or more, each once, not {self.seeds}.")

    @property
    def tasks(self) -> int:
        """The held-out tasks of an exam."""
        return max(30, round(TASKS * self.scale))

    def runs(self) -> Iterator[tuple[Condition, HeldOutRun]]:
        """All runs, seed by seed, so that a part of them already compares all conditions."""
        for i, seed in enumerate(self.seeds):
            for condition in self.conditions:
                if i < max(2, round(condition.share * len(self.seeds))):
                    yield condition, self._run(condition, seed)

    def _run(self, condition: Condition, seed: int) -> HeldOutRun:
        marks = self.marks(condition)
        return HeldOutRun(
            condition.world, condition.agent, marks[-1], seed, marks=marks, tasks=self.tasks
        )

    def marks(self, condition: Condition) -> tuple[int, ...]:
        """The marks of a condition, as far as the scale allows."""
        last = max(100, self.scale * condition.marks[-1])
        return tuple(mark for mark in condition.marks if mark <= last)

    def smaller(self, scale: float, seeds: tuple[int, ...]) -> Trajectories:
        """The same with other seeds, and shorter."""
        return replace(self, scale=scale, seeds=seeds)
