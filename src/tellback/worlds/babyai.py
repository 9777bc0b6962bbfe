"""BabyAI: missions in a grid world, of Chevalier-Boisvert and others (2019).

The agent acts, and the teacher says in BabyAI's own language what it did. Nobody shows it how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tellback.arrays import AnyArray, Array
from tellback.compiled import compiled
from tellback.roles import Exchange, Facts, Preparing, Simulation, Task, WorldSpec
from tellback.specs import Count
from tellback.worlds.babyai_grid import (
    Scene,
    Things,
    as_codes,
    things_of,
    when_fulfilled,
)
from tellback.worlds.babyai_language import Style, meaning_of, wording, wordings
from tellback.worlds.babyai_levels import LEVELS, demand_level, mission
from tellback.worlds.babyai_trajectories import Summary, Trajectories

HELD_OUT = 1 << 24
"""The seeds of held-out missions begin here, and others are below."""


@dataclass(frozen=True)
class BabyAI(WorldSpec):
    """Missions of a level of BabyAI, another one each round.

    minigrid draws the missions, from seeds; so as not to wait for it every round, a pool of them
    is drawn once in a process. A response is a text of actions (``babyai_grid.ACTIONS``). The
    teacher says what was fulfilled last, in the level's own wordings; before that, what the agent
    picked up or put down, or marked by "done". It is silent if nothing was fulfilled.

    The reward is by meaning: 1 if minigrid's verifiers find the mission fulfilled at some step, as
    its episodes end then, else 0. The best is taken to be 1: nearly all missions can be fulfilled
    in so many steps; where one cannot, regret is overstated.

    Parameters
    ----------
    level : str
        A level of ``babyai_levels.LEVELS``.
    steps : int
        The most actions of a trajectory.
    missions : int
        The size of the pool.
    held_out : bool
        Whether to draw from another pool, which no run sees by default: for exams.

    Examples
    --------
    >>> BabyAI("PutNextLocal").facts.dim
    21
    """

    kind: ClassVar[str] = "babyai"

    level: str = "GoToLocal"
    steps: Count = 64
    missions: Count = 4096
    held_out: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        demand_level(self.level)

    @property
    def style(self) -> Style:
        """How missions of the level are worded."""
        return LEVELS[self.level]

    @property
    def summary(self) -> Summary:
        """What features tell of a trajectory."""
        style = self.style
        events = max(shape.first + shape.second for shape, _ in style.shapes)
        return Summary(style.kind, events, style.naming == "located")

    @property
    def facts(self) -> Facts:
        """Instructions are sentences."""
        return Facts(self.summary.dim, None)

    def for_exams(self) -> BabyAI:
        """The same level with the missions of the other pool."""
        return replace(self, held_out=True)

    def prepare(self, progress: Preparing | None = None) -> None:
        """Draw all missions of the pool."""
        for number in range(self.missions):
            if progress is not None and number % 64 == 0:
                progress(f"missions of {self.level}", number, self.missions)
            self.mission(number)

    def mission(self, number: int) -> Task:
        """A mission of the pool."""
        return _mission(self.level, self.steps, number + HELD_OUT * self.held_out)

    def build(self, rng: np.random.Generator) -> Simulation:
        """The same for every stream: missions are drawn round by round."""
        return Simulation(BabyAIWorld(self), BabyAITeacher(self), BabyAITruth(self))


@lru_cache(1 << 14)
def _mission(level: str, steps: int, seed: int) -> Task:
    scene, sentence = mission(level, seed)
    return Task(scene, sentence, Trajectories(things_of(scene), BabyAI(level).summary, steps))


class BabyAIWorld:
    """Presents missions."""

    memory: ClassVar[int] = 0

    def __init__(self, spec: BabyAI) -> None:
        self._spec, self.facts = spec, spec.facts

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A mission of the pool."""
        return self._spec.mission(int(rng.integers(self._spec.missions)))


class BabyAITeacher:
    """Says what a trajectory fulfilled last."""

    def __init__(self, spec: BabyAI) -> None:
        self._spec, self._summary, self._style = spec, spec.summary, spec.style

    def describe(self, context: Scene, response: str, rng: np.random.Generator) -> str | None:
        """A sentence that is true of the trajectory; None if it fulfilled nothing."""
        things, events = self._events(context, response)
        return wording(events, things, self._style, rng) if len(events) else None

    def probabilities(self, context: Scene, response: str) -> dict[str, float]:
        """What it may say of a trajectory, and with which probability; nothing if silent."""
        things, events = self._events(context, response)
        return wordings(events, things, self._style) if len(events) else {}

    def _events(self, context: Scene, response: str) -> tuple[Things, AnyArray]:
        things = things_of(context)
        return things, Trajectories(things, self._summary, self._spec.steps).events(response)


class BabyAITruth:
    """1 if a trajectory fulfils the instruction, else 0."""

    by_meaning: ClassVar[bool] = True

    def __init__(self, spec: BabyAI) -> None:
        self._steps = spec.steps

    def reward(self, task: Task, response: str) -> float:
        """Whether minigrid's verifiers would say so; 0 also for what is no instruction here."""
        return float(self.rewards(task, [response])[0])

    def rewards(self, task: Task, responses: Sequence[str]) -> Array:
        """The same of many responses."""
        meaning = meaning_of(str(task.instruction))
        if meaning is None:
            return np.zeros(len(responses))
        things = things_of(task.context)
        codes = as_codes(responses, self._steps)
        return _fulfilled(codes, *meaning.arrays(things), *things)

    def best(self, task: Task) -> float:
        """1."""
        return 1.0


@compiled
def _fulfilled(
    codes: AnyArray,
    kinds: AnyArray,
    parts: AnyArray,
    meant: AnyArray,
    beside: AnyArray,
    grid: AnyArray,
    types: AnyArray,
    colours: AnyArray,
    doors: AnyArray,
    columns: AnyArray,
    rows: AnyArray,
    agent: AnyArray,
) -> Array:
    fulfilled = np.zeros(len(codes))
    for i in range(len(codes)):
        after = when_fulfilled(
            codes[i],
            kinds,
            parts,
            meant,
            beside,
            grid.copy(),
            types,
            colours,
            doors.copy(),
            columns,
            rows,
            agent.copy(),
        )
        fulfilled[i] = after > 0
    return fulfilled
