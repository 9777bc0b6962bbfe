"""Runs in this process, one after another: for classes that other processes cannot import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tellback.lab.engines.interrupts import interrupts_noted
from tellback.lab.run_one import Outcome, job_of, run_one
from tellback.lab.study import RunSpec


@dataclass(frozen=True)
class Inline:
    """The process that asks."""

    isolated: bool = False  # whether agents run in processes of their own

    def run_all(
        self, runs: Sequence[RunSpec], progress: Callable[[int], object]
    ) -> Iterator[Outcome]:
        """The outcome of each run, as they end."""
        with interrupts_noted() as raise_if_interrupted:

            def tick(rounds: int) -> None:
                raise_if_interrupted()  # ends the run under way
                progress(rounds)

            for run in runs:
                outcome = run_one(job_of(run), tick, self.isolated)
                raise_if_interrupted()  # what was cut off is no outcome
                yield outcome
