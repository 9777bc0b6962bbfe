"""Engines for tests: one that notes what it computed, and one that must not be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tellback import lab
from tellback.lab import RunSpec
from tellback.lab.run_one import Outcome


class Inline:
    """Computes runs one after the other, without any other process."""

    def __init__(self) -> None:
        self.computed: list[RunSpec] = []

    def outcomes(
        self, runs: Sequence[RunSpec], played: Callable[[int], object]
    ) -> Iterator[Outcome]:
        for run in runs:
            self.computed.append(run)
            yield from lab.Inline().outcomes([run], played)


class Idle:
    """Must not be asked for anything."""

    def outcomes(
        self, runs: Sequence[RunSpec], played: Callable[[int], object]
    ) -> Iterator[Outcome]:
        raise AssertionError(f"{len(runs)} runs were to be computed, which were there already")
