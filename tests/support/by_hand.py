"""Results for tests: computed in this process, or made up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from tellback.arrays import Array
from tellback.lab import RunSpec, Store
from tellback.lab.curve import curve_rounds
from tellback.lab.run_one import Outcome, run_one
from tellback.roles import AgentSpec


class Here:
    """An engine without processes."""

    def run_all(
        self, runs: Sequence[RunSpec], played: Callable[[int], object]
    ) -> Iterator[Outcome]:
        for run in runs:
            yield run_one(run, played)


class MadeUp(Store):
    """A store that says what final regrets it is told to, reached along a straight line."""

    def __init__(self, finals: Mapping[AgentSpec, Mapping[int, float]]) -> None:
        super().__init__("nowhere")
        self._finals = finals

    def curves(self, runs: Iterable[RunSpec]) -> dict[RunSpec, Array]:
        return {run: self._line(run) for run in runs}

    def _line(self, run: RunSpec) -> Array:
        t = curve_rounds(run.rounds)
        line: Array = self._finals[run.agent][run.seed] * (t / t[-1])
        return np.asarray(line)
