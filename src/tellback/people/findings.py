"""What the runs of the benchmark have found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tellback.lab.compare import MeanInterval, mean_of
from tellback.lab.engines import Engine
from tellback.lab.listener import Listener
from tellback.lab.run_missing import run_missing
from tellback.lab.run_studies import RunsFailedError
from tellback.lab.store import Store
from tellback.people.held_out import EXAMS, ROOMS
from tellback.people.plan import BATCH, RANDOM, RECOMMENDED, RIVALS, Benchmark, wrong_name

ALL = -1
"""The mark of all descriptions of the training part."""


class Place(NamedTuple):
    """Where success was measured."""

    level: str
    candidates: int
    exam: str


class Line(NamedTuple):
    """The success of a learner in one place after a number of descriptions."""

    place: Place
    learner: str
    mark: int
    success: MeanInterval  # over seeds


@dataclass
class Findings:
    """Success by place, learner and number of descriptions."""

    benchmark: Benchmark
    shares: dict[tuple[Place, str, int], list[float]] = field(default_factory=dict)
    costs: dict[tuple[str, str], list[Mapping[str, float]]] = field(default_factory=dict)
    examples: Sequence[Mapping[str, Any]] = ()  # of the first seed
    taught: int = 0  # descriptions of the training part, of whole responses, in the first seed

    def lines(self) -> Iterator[Line]:
        """Every measured success; the same in all runs has an interval of no width."""
        for (place, learner, mark), shares in self.shares.items():
            known = np.array([share for share in shares if np.isfinite(share)])
            if len(known) > 1:
                found = mean_of(known)
                low, high = max(found.low, 0.0), min(found.high, 1.0)
                yield Line(place, learner, mark, MeanInterval(found.mean, low, high, found.n))

    def at(self, place: Place, learner: str, mark: int) -> MeanInterval | None:
        """A success, if it was measured."""
        return self.by_key.get((place, learner, mark))

    @property
    def by_key(self) -> dict[tuple[Place, str, int], MeanInterval]:
        """The same by place, learner and mark."""
        return {(one.place, one.learner, one.mark): one.success for one in self.lines()}

    def learners(self) -> list[str]:
        """Those that were examined, the recommended agent first."""
        order = [RECOMMENDED, wrong_name(self.benchmark.wrong), *BATCH, *RIVALS, RANDOM]
        there = {learner for _, learner, _ in self.shares}
        return [name for name in order if name in there]

    def places(self) -> list[Place]:
        """Where something was measured."""
        return list(dict.fromkeys(one.place for one in self.lines()))


def run_benchmark(
    benchmark: Benchmark,
    store: Store,
    *,
    on: Engine | str | None = None,
    listener: Listener | None = None,
    reuse: bool = False,
) -> Findings:
    """Run what the store does not have yet, and collect all.

    Parameters
    ----------
    benchmark : Benchmark
        What to run.
    store, on, listener, reuse
        As for ``tellback.lab.run_missing``.
    """
    planned = list(benchmark.runs())
    if listener is not None:
        listener.begin(len(planned), sum(one.run.rounds for one in planned))
    failures = run_missing(
        [one.run for one in planned], store, on=on, listener=listener, reuse=reuse
    )
    if failures:
        raise RunsFailedError(failures, [])
    return collect(benchmark, store)


def collect(benchmark: Benchmark, store: Store) -> Findings:
    """The findings of runs that are all stored."""
    planned = list(benchmark.runs())
    curves = store.curves(one.run for one in planned)
    found = Findings(benchmark)
    for one in planned:
        run = one.run
        shares = curves[run].reshape(run.shape)
        marks = (ALL,) if run.taught else run.marks
        for i, learner in enumerate(one.learners):
            for j, k in enumerate(one.candidates):
                for e, exam in enumerate(EXAMS):
                    for m, mark in enumerate(marks):
                        key = Place(one.level, k, exam), learner, mark
                        found.shares.setdefault(key, []).append(float(shares[i, j, e, m]))
        about = store.about(run)
        found.costs.setdefault((one.level, one.learners[0]), []).append(about["cost"])
        if run.seed == benchmark.seeds[0] and one.level == "whole":
            _note_first(found, run, one.learners[0], about)
    _add_chance(found)
    return found


def _note_first(found: Findings, run: Any, learner: str, about: Mapping[str, Any]) -> None:
    if run.taught:
        found.taught = run.rounds
    elif learner == RECOMMENDED and not found.examples:
        found.examples = about["examples"]


def _add_chance(found: Findings) -> None:
    """Random choice needs no run."""
    for level, numbers in found.benchmark.panels.items():
        for k in numbers:
            for mark in found.benchmark.marks:
                shares = [1 / k] * len(found.benchmark.seeds)
                found.shares[Place(level, k, ROOMS), RANDOM, mark] = shares
