"""What the benchmark runs: learners, numbers of candidates, levels and seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tellback.agents import LORIL, recommended
from tellback.encoders import WordVectors
from tellback.errors import SettingError
from tellback.models import Ridge, Sentence
from tellback.people.batch import BatchSpec, SentenceCosine, TfidfLogistic
from tellback.people.examined import Examined, descriptions
from tellback.people.held_out import EXAMS, untuned
from tellback.roles import AgentSpec
from tellback.worlds.recorded import Recorded

MARKS = (0, 20, 50, 100, 200, 500, 1000, 2000)
LEVELS = {"whole": "whole responses", "steps": "single steps"}
FEWEST_GROUPS = 3
"""Groups without tuning that a number of candidates needs: one of them is held out."""

RECOMMENDED, RIDGE, GRU, RANDOM = "recommended", "LORIL, ridge", "LORIL, the paper's GRU", "random"
TFIDF, COSINE = "TF-IDF, logistic regression", "cosine of sentence vectors"
BATCH: dict[str, BatchSpec] = {TFIDF: TfidfLogistic(), COSINE: SentenceCosine()}
RIVALS: dict[str, AgentSpec] = {
    RIDGE: LORIL(k=0.3, lam=3.0, model=Ridge(lam=3.0, labels=WordVectors())),
    GRU: LORIL(k=0.1, lam=1.0, model=Sentence()),
}
"""Their settings were chosen on rooms that are not examined."""

SLOW = 6
"""One in so many seeds plays all but the recommended agent with the fewest candidates and whole
responses: the whole benchmark takes an hour."""

SECONDS = {RECOMMENDED: (0.0025, 0.0003), RIDGE: (0.006, 0.0008), GRU: (0.028, 0.0001)}
"""CPU time of a round and of a question, at 850 features and 5 candidates, for an estimate."""

SECONDS_TAUGHT, SECONDS_FITTED = 0.0015, 0.0006
"""The same of a description that is taught, and of one that a model in batch is fitted to."""


def wrong_name(wrong: float) -> str:
    """The recommended agent where some descriptions are wrong, in tables."""
    return f"{RECOMMENDED}, {wrong:.0%} wrong"


@dataclass(frozen=True)
class PlannedRun:
    """A run, and what its learners are called."""

    run: Examined
    level: str
    learners: tuple[str, ...]  # the agent first
    candidates: tuple[int, ...]  # of its exams


@dataclass(frozen=True)
class Benchmark:
    """All runs of the benchmark on one recording."""

    path: str
    seeds: tuple[int, ...]
    candidates: tuple[int, ...] = (5, 20)
    tuned_on: tuple[str, ...] = ()
    wrong: float = 0.39  # the share of wrong descriptions in a further curve; 0 for none
    scale: float = 1.0

    def __post_init__(self) -> None:
        if len(set(self.seeds)) < max(2, len(self.seeds)):
            raise SettingError(f"seeds must be two or more, each once, not {self.seeds}.")
        if not self.panels:
            raise SettingError(
                f"{self.path} has fewer than {FEWEST_GROUPS} groups with {min(self.candidates)} "
                "responses that differ and that two people have described, not counting those "
                "that settings were chosen on: show fewer candidates."
            )

    @cached_property
    def worlds(self) -> dict[str, Recorded]:
        """The recording at each level that it has."""
        whole = Recorded(self.path)
        found = {"whole": whole}
        if len(whole.recording.by_step()):
            found["steps"] = whole.with_settings({"level": "steps"})
        return found

    @cached_property
    def panels(self) -> dict[str, tuple[int, ...]]:
        """The numbers of candidates that can be examined, by level."""
        found = {
            level: tuple(
                k
                for k in sorted(set(self.candidates))
                if len(untuned(world, k, self.tuned_on)) >= FEWEST_GROUPS
            )
            for level, world in self.worlds.items()
        }
        return {level: numbers for level, numbers in found.items() if numbers}

    @property
    def marks(self) -> tuple[int, ...]:
        """The numbers of descriptions at which agents are examined."""
        return tuple(mark for mark in MARKS if mark <= max(100, self.scale * MARKS[-1]))

    @property
    def tasks(self) -> int:
        """The questions of an exam."""
        return max(50, round(400 * self.scale))

    @property
    def taught(self) -> bool:
        """Whether all descriptions of the training part are taught, too; not in a quick trial."""
        return self.scale == 1

    @cached_property
    def few_seeds(self) -> tuple[int, ...]:
        """The seeds of what is slow."""
        return self.seeds[: max(2, len(self.seeds) // SLOW)]

    def runs(self) -> Iterator[PlannedRun]:
        """All runs: first what every seed has, seed by seed, then the others."""
        first = next(iter(self.panels))
        fewest = self.panels[first][0]
        for seed in self.seeds:
            yield from self._recommended(seed, first, fewest)
            if self.taught:
                yield self._taught(seed, first)
        for seed in self.few_seeds:
            for level, numbers in self.panels.items():
                for k in numbers:
                    if (level, k) != (first, fewest):
                        yield from self._recommended(seed, level, k)
                    for name, agent in RIVALS.items():
                        yield self._run(self._world(level, k), agent, seed, (name,))
                if self.taught and level != first:
                    yield self._taught(seed, level)

    def _recommended(self, seed: int, level: str, k: int) -> Iterator[PlannedRun]:
        world = self._world(level, k)
        best = recommended(world)
        yield self._run(world, best, seed, (RECOMMENDED, *self._batch(seed)))
        if self.wrong and k == min(self.panels[level]):
            careless = world.with_settings({"wrong": self.wrong})
            yield self._run(careless, best, seed, (wrong_name(self.wrong),))

    def _world(self, level: str, k: int) -> Recorded:
        return self.worlds[level].with_settings({"candidates": k})

    def _run(
        self, world: Recorded, agent: AgentSpec, seed: int, learners: tuple[str, ...]
    ) -> PlannedRun:
        run = Examined(
            world,
            agent,
            self.marks[-1],
            seed,
            marks=self.marks,
            candidates=self.panels[world.level],
            tuned_on=self.tuned_on,
            batch=tuple(BATCH[name] for name in learners[1:]),
            tasks=self.tasks,
        )
        return PlannedRun(run, world.level, learners, (world.candidates,))

    def _taught(self, seed: int, level: str) -> PlannedRun:
        numbers = self.panels[level]
        world = self._world(level, min(numbers))
        count = descriptions(world, numbers, self.tuned_on, seed)
        run = Examined(
            world,
            recommended(world),
            count,
            seed,
            marks=(count,),
            candidates=numbers,
            tuned_on=self.tuned_on,
            batch=tuple(self._batch(seed).values()),
            tasks=self.tasks,
            taught=True,
        )
        return PlannedRun(run, level, (RECOMMENDED, *self._batch(seed)), numbers)

    def _batch(self, seed: int) -> dict[str, BatchSpec]:
        return BATCH if seed in self.few_seeds else {}

    def seconds(self) -> float:
        """About how much CPU time all runs take."""
        total = 0.0
        for one in self.runs():
            a_round, a_question = SECONDS.get(one.learners[0], SECONDS[RECOMMENDED])
            a_round = SECONDS_TAUGHT if one.run.taught else a_round
            marks = one.run.marks
            asked = self.tasks * len(EXAMS) * len(marks) * sum(one.candidates) / 5
            fitted = sum(marks) * len(one.run.batch)
            size = one.run.world.facts.dim / 850
            total += size * (one.run.rounds * a_round + asked * a_question)
            total += fitted * SECONDS_FITTED
        return total
