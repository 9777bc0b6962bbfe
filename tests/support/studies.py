"""Helpers for studies: engines in this process, a store with made-up results, a listener."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from tellback.arrays import Array
from tellback.lab import Listener, RunSpec, Store
from tellback.lab.run_one import Outcome, curve_rounds, run_one
from tellback.roles import AgentSpec


class Inline:
    """An engine that plays runs in this process and records them."""

    def __init__(self) -> None:
        self.computed: list[RunSpec] = []

    def run_all(
        self, runs: Sequence[RunSpec], progress: Callable[[int], object]
    ) -> Iterator[Outcome]:
        for run in runs:
            self.computed.append(run)
            yield run_one(run, progress)


class Idle:
    """An engine that must not be given any run."""

    def run_all(
        self, runs: Sequence[RunSpec], progress: Callable[[int], object]
    ) -> Iterator[Outcome]:
        raise AssertionError(f"{len(runs)} runs were to be played, which were stored already")


class MadeUp(Store):
    """A store with given final regrets, reached along a straight line."""

    def __init__(self, finals: Mapping[AgentSpec, Mapping[int, float]]) -> None:
        super().__init__("nowhere")
        self._finals = finals

    def curves(self, runs: Iterable[RunSpec]) -> dict[RunSpec, Array]:
        return {run: self._line(run) for run in runs}

    def _line(self, run: RunSpec) -> Array:
        t = curve_rounds(run.rounds)
        line: Array = self._finals[run.agent][run.seed] * (t / t[-1])
        return np.asarray(line)


class Counting(Listener):
    """Records the rounds and the notes that it is told."""

    def __init__(self, rounds: list[int] | None = None) -> None:
        self.rounds = [] if rounds is None else rounds
        self.notes: list[str] = []

    def begin(self, runs: int, rounds: int) -> None:
        self.rounds.clear()

    def played(self, rounds: int) -> None:
        self.rounds.append(rounds)

    def note(self, text: str) -> None:
        self.notes.append(text)
