"""Which source of tellback played the runs of a study, and on which machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tellback.lab.run_one import changed_rooms
from tellback.lab.store import Store
from tellback.lab.study import RunSpec
from tellback.lab.wording import counted

UNKNOWN = "unknown"


def of_another_source(runs: Iterable[RunSpec], store: Store) -> dict[RunSpec, list[str]]:
    """The stored runs that another source of tellback played, with the rooms that differ."""
    differing = _differing_now()
    found = {run: differing(run, store.about(run)) for run in runs}
    return {run: rooms for run, rooms in found.items() if rooms}


def _differing_now() -> Callable[[RunSpec, Mapping[str, Any]], list[str]]:
    """A function of a run and its sidecar: the rooms it depends on that have changed since.

    The source of tellback is digested once for all runs of the same classes.
    """
    digests: dict[frozenset[type], dict[str, str]] = {}

    def differing(run: RunSpec, about: Mapping[str, Any]) -> list[str]:
        if run.classes not in digests:
            digests[run.classes] = run.rooms().digests
        before, now = about.get("rooms"), digests[run.classes]
        return [] if before == now else changed_rooms(before, now)

    return differing


@dataclass(frozen=True)
class Sources:
    """The sources of tellback that played some runs."""

    runs: Counter[str]  # by each source
    mixed: bool  # whether they differ in a room that a run depends on: no fair comparison
    others: int  # runs that depend on a room that has changed since

    def __str__(self) -> str:
        return ", ".join(f"{name} ({counted(n, 'run')})" for name, n in sorted(self.runs.items()))

    @property
    def warning(self) -> str:
        """A warning for the reader, if there is one."""
        if self.mixed:
            return (
                f"Warning: these runs were played by {len(self.runs)} sources of tellback that "
                f"differ in rooms that the runs depend on: {self}. Run the study again to play "
                "them all with one."
            )
        if self.others:
            return (
                f"{counted(self.others, 'run')} depend{'s' * (self.others == 1)} on a part of "
                f"tellback that has changed since, of source {self}."
            )
        return ""


MADE_WITH = ("cpu", "machine", "host", "python", "tellback", "numpy", "numba", "torch")


@dataclass(frozen=True)
class Provenance:
    """Time, machines and versions of runs, from their sidecars."""

    seconds: float  # in total
    made_with: Mapping[str, Counter[str]]  # runs by machine, version of a library, ...
    source: Sequence[str]  # for each run, the source of tellback that played it
    sources: Sources
    suspicious: Sequence[str]  # runs whose matches and rewards differ (``Run.match_check``)


def provenance_of(runs: Mapping[str, RunSpec], store: Store) -> Provenance:
    """The provenance of runs, given by their identity."""
    differing, seconds, source, others, suspicious = _differing_now(), 0.0, [], [], []
    made_with: dict[str, Counter[str]] = {what: Counter() for what in MADE_WITH}
    for identity, run in runs.items():
        about = store.about(identity)
        seconds += float(about.get("seconds", 0.0))
        source.append(str(about.get("source", UNKNOWN)))
        if differing(run, about):
            others.append(source[-1])
        check = about.get("match_check")
        if check and check["differs"]:
            where = f"{run.agent.label()}, seed {run.seed} ({identity[:10]})"
            suspicious.append(f"Warning: {where}: {check['says']}")
        for what, number in made_with.items():
            if what in about:
                number[str(about[what])] += 1
    # Runs whose rooms have not changed count as one source.
    kinds = len(set(others)) + (len(others) < len(source))
    named = Counter(source)
    sources = Sources(named, len(named) > 1 and kinds > 1, len(others))
    return Provenance(seconds, made_with, source, sources, suspicious)
