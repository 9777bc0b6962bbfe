"""An engine for tests: runs computed in this process, and noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tellback.lab import RunSpec
from tellback.lab.run_one import Outcome, run_one


class Inline:
    """Computes runs one after the other, without any other process."""

    def __init__(self) -> None:
        self.computed: list[RunSpec] = []

    def run_all(
        self, runs: Sequence[RunSpec], played: Callable[[int], object]
    ) -> Iterator[Outcome]:
        for run in runs:
            self.computed.append(run)
            yield run_one(run, played)


class Idle:
    """Must not be asked for anything."""

    def run_all(
        self, runs: Sequence[RunSpec], played: Callable[[int], object]
    ) -> Iterator[Outcome]:
        raise AssertionError(f"{len(runs)} runs were to be computed, which were there already")
