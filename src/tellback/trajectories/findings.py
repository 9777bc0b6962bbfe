"""What the runs of a benchmark on trajectories have found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.lab.compare import MeanInterval, mean_of
from tellback.lab.run_missing import run_missing
from tellback.lab.run_studies import RunsFailedError
from tellback.lab.store import Store
from tellback.roles import WorldSpec
from tellback.streams import Streams
from tellback.trajectories.held_out import MEASURES
from tellback.trajectories.plan import Bar, Condition, Trajectories
from tellback.worlds.house_paths import count_paths

REGRET = MEASURES.index("regret")
COUNTED = 200  # houses whose paths are counted


class Verdict(NamedTuple):
    """A bar and what was measured."""

    bar: Bar
    found: MeanInterval

    @property
    def reached(self) -> bool:
        """Whether the mean is at least as high."""
        return self.found.mean >= self.bar.at_least

    def __str__(self) -> str:
        surely = self.found.low >= self.bar.at_least or self.found.high < self.bar.at_least
        return ("reached" if self.reached else "not reached") + ("" if surely else ", narrowly")


@dataclass
class PathFindings:
    """All measures of all conditions."""

    benchmark: Trajectories
    curves: dict[Condition, list[Array]] = field(default_factory=dict)  # an array a seed
    speeds: dict[Condition, list[float]] = field(default_factory=dict)
    described: dict[Condition, list[float]] = field(default_factory=dict)
    answers: dict[Condition, list[list[str]]] = field(default_factory=dict)  # of the first seed

    def at(self, condition: Condition, measure: str, mark: int) -> MeanInterval | None:
        """A measure at a mark over the seeds; None if it was not measured."""
        marks = self.benchmark.marks(condition)
        if mark not in marks:
            return None
        row, column = MEASURES.index(measure), marks.index(mark)
        values = np.array([one[row, column] for one in self.curves[condition]])
        if not np.isfinite(values).all():
            return None
        found = mean_of(values)
        if measure not in ("success", "reward", "attainable"):
            return found
        return MeanInterval(found.mean, max(found.low, 0.0), min(found.high, 1.0), found.n)

    def panel(self, name: str) -> list[Condition]:
        """The conditions of a panel."""
        return [one for one in self.curves if one.panel == name]

    @property
    def panels(self) -> list[str]:
        """The panels, in order."""
        return list(dict.fromkeys(one.panel for one in self.curves))

    def named(self, panel: str, name: str) -> Condition | None:
        """A condition by its name; None if it did not run."""
        return next((one for one in self.panel(panel) if one.name == name), None)

    def verdicts(self) -> list[Verdict]:
        """The bars that were tried."""
        found = []
        for bar in self.benchmark.bars:
            condition = self.named(bar.panel, bar.name)
            measured = self.at(condition, bar.measure, bar.mark) if condition else None
            if measured is not None:
                found.append(Verdict(bar, measured))
        return found

    def slope(self) -> MeanInterval | None:
        """The slope of log regret in the log number of responses, over the seeds.

        A line is fitted for each seed. None if the benchmark has no such panel.
        """
        growth = self.benchmark.growth
        if growth is None:
            return None
        conditions = self.panel(growth.panel)
        sizes = np.array([responses_of(one.world) for one in conditions])
        regrets = np.array([[run[REGRET, -1] for run in self.curves[one]] for one in conditions])
        return mean_of(np.polyfit(sizes, np.log10(regrets), 1)[0])

    def fewer(self) -> float | None:
        """How many times fewer descriptions an agent needs for another's final success.

        The first mark counts at which its mean is as high. 0 if there is none; None if the
        benchmark compares no such agents, or they have not run.
        """
        asked = self.benchmark.fewer
        if asked is None:
            return None
        quick, slow = (self.named(asked.panel, name) for name in (asked.quick, asked.slow))
        if quick is None or slow is None:
            return None
        last = self.benchmark.marks(slow)[-1]
        final = self.at(slow, "success", last)
        for mark in self.benchmark.marks(quick):
            reached = self.at(quick, "success", mark)
            if final and reached and reached.mean >= final.mean:
                return last / max(mark, 1)
        return 0.0


def responses_of(world: WorldSpec) -> float:
    """The mean logarithm, to base 10, of the number of responses in a task of a house."""
    live, rng = world.build(Streams(0).init("world")).world, np.random.default_rng(0)
    counts = [count_paths(live.task(1, (), rng).context) for _ in range(COUNTED)]
    return float(np.mean(np.log10(counts)))


def run_trajectories(benchmark: Trajectories, store: Store, **how: Any) -> PathFindings:
    """Run what the store does not have yet, and collect all.

    ``how`` is passed to ``tellback.lab.run_missing``: on, listener, reuse.
    """
    planned = list(benchmark.runs())
    listener = how.get("listener")
    if listener is not None:
        listener.begin(len(planned), sum(run.rounds for _, run in planned))
    if failures := run_missing([run for _, run in planned], store, **how):
        raise RunsFailedError(failures, [])
    curves = store.curves(run for _, run in planned)
    found = PathFindings(benchmark)
    for condition, run in planned:
        curve = curves[run].reshape(len(MEASURES), len(run.marks))
        found.curves.setdefault(condition, []).append(curve)
        about = store.about(run)
        found.speeds.setdefault(condition, []).append(about.get("rounds a second", np.nan))
        found.described.setdefault(condition, []).append(about.get("described", np.nan))
        found.answers.setdefault(condition, about.get("answers", []))
    return found
