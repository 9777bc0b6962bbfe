"""The protocol of engines, and engines by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from tellback.errors import SettingError
from tellback.lab.engines.inline import Inline
from tellback.lab.engines.processes import Processes
from tellback.lab.engines.ray_cluster import RayCluster
from tellback.lab.run_one import Outcome
from tellback.lab.study import RunSpec
from tellback.lab.wording import counted


class Engine(Protocol):
    """Plays runs: in this process, in others, or on a cluster. Results do not depend on where."""

    def run_all(
        self, runs: Sequence[RunSpec], progress: Callable[[int], object]
    ) -> Iterator[Outcome]:
        """The outcome of each run, as they end.

        ``progress`` is called now and then with the number of rounds played since its last
        call. Ctrl-C raises KeyboardInterrupt between two outcomes, after the workers have
        stopped.
        """


@dataclass(frozen=True)
class Here:
    """Processes of this machine, and this process for classes that the others cannot import."""

    note: Callable[[str], object]  # told in a sentence if some runs are played in this process

    def run_all(
        self, runs: Sequence[RunSpec], progress: Callable[[int], object]
    ) -> Iterator[Outcome]:
        """The outcome of each run, as they end."""
        typed = [run for run in runs if run.typed]
        if typed:
            names = ", ".join(sorted({name for run in typed for name in run.typed}))
            self.note(
                f"Played in this process, one after another: {counted(len(typed), 'run')}, because "
                f"other processes cannot import {names}, which was typed here."
            )
        others = [run for run in runs if not run.typed]
        if others:
            yield from Processes().run_all(others, progress)
        yield from Inline().run_all(typed, progress)


def engine_named(name: str, workers: int | None = None, isolated: bool = False) -> Engine:
    """The engine for a name.

    ``here`` for processes of this machine; ``inline`` for this process, one run after another;
    ``ray`` to start a Ray cluster on it, or to join the one that RAY_ADDRESS names;
    ``ray://host:port`` to join a cluster through its client server; ``host:port`` to join one
    that this machine is part of. ``workers`` are processes, or processors of a new cluster.
    """
    if name == "here":
        return Processes(workers, isolated)
    if name == "inline":
        if workers is not None:
            raise SettingError("Runs that are computed inline have no workers.")
        return Inline(isolated)
    joins = ":" in name.removeprefix("ray://")
    if name != "ray" and not joins:
        raise SettingError(
            "Runs can be played on here, inline, ray, ray://host:port or host:port, "
            f"not on {name!r}."
        )
    if workers is not None and (joins or "RAY_ADDRESS" in os.environ):
        raise SettingError("A cluster that is joined has its own number of workers: leave it out.")
    return RayCluster(name if joins else None, workers, isolated)
