"""One run, played: in this process, in a worker or on a cluster."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tellback import __version__
from tellback.arrays import Array
from tellback.compiled import source_digest
from tellback.lab.run_spec import RunSpec
from tellback.sources import Rooms, forgetting, note_package


@dataclass(frozen=True, eq=False)
class Finished:
    """A run that was played to its end."""

    run: RunSpec
    curve: Array  # regret at ``RunSpec.points``
    # Time, machine and versions. The result depends on them in the last bits only.
    about: Mapping[str, Any] = field(default_factory=dict)
    identity: str = ""  # of the played run; '' stands for that of ``run``


@dataclass(frozen=True)
class Failure:
    """A run that raised an error."""

    run: RunSpec
    traceback: str


@dataclass(frozen=True)
class SourceChanged(Failure):
    """A run whose source code changed since it was started: it has no result to store."""


Outcome = Finished | Failure


@dataclass(frozen=True)
class Job:
    """A run for a worker, with its identity and source, which the worker compares with its own."""

    run: RunSpec
    identity: str
    rooms: Rooms  # of tellback that it depends on


def job_of(run: RunSpec) -> Job:
    """The job of a run, from the source files as they are now."""
    return Job(run, run.identity, run.rooms())


class StoppedError(Exception):
    """Raised within a run when its study is stopped."""


def run_one(
    job: Job | RunSpec,
    progress: Callable[[int], object] | None = None,
    isolated: bool = False,
) -> Outcome:
    """Play a run; an error becomes a Failure with its traceback.

    The source is compared with that of the job before and after: a file may have been edited
    since this process loaded it, or during the run.
    """
    run = job.run if isinstance(job, Job) else job
    began = time.time()
    try:
        wanted = job if isinstance(job, Job) else job_of(job)
        if said := _differs(wanted, played=False):
            return SourceChanged(run, said)
        with forgetting(run.own_classes) if run.own_classes else nullcontext():
            curve, noted = run.perform(progress, isolated)
        if said := _differs(wanted, played=True):
            return SourceChanged(run, said)
    except BaseException:  # an agent that calls sys.exit() must not end the study
        return Failure(run, traceback.format_exc())
    about = {"began": began, "seconds": time.time() - began, **_machine()}
    about |= {**noted, "rooms": wanted.rooms.digests}
    return Finished(run, curve, about, wanted.identity)


def _differs(wanted: Job, played: bool) -> str:
    """How the source differs from that of the job; empty if it does not.

    tellback's own source is compared only after the run, when all its modules are loaded.
    """
    run = wanted.run
    if edited := run.edited(package=played):
        return f"{' and '.join(edited)} changed after being loaded: {AGAIN}"
    if run.identity != wanted.identity:
        return (
            f"The source of {run.agent.kind} or {run.world.kind} on {platform.node()} has "
            f"changed since the run was started, or differs between processes: {AGAIN}"
        )
    if played and (found := changed_rooms(wanted.rooms.digests, run.rooms(wanted.rooms).digests)):
        return (
            f"tellback on {platform.node()} has another source of {', '.join(found)} than where "
            f"the run was started: {AGAIN}"
        )
    return ""


def changed_rooms(before: object, now: Mapping[str, str]) -> list[str]:
    """The rooms of tellback whose source differs; all of them if the earlier source is unknown."""
    known = before if isinstance(before, Mapping) else {}
    return [room for room in sorted({*known, *now}) if known.get(room) != now.get(room)]


AGAIN = "runs played since then are not stored. Start again."

note_package()


def _machine() -> dict[str, str]:
    """Machine and versions, on which the last bits of a result may depend."""
    libraries: list[str] = ["numpy", "numba", "torch"]
    versions = {name: sys.modules[name].__version__ for name in libraries if name in sys.modules}
    return {
        "tellback": __version__,
        "source": source_digest(),
        "python": platform.python_version(),
        "machine": platform.platform(),
        "cpu": _cpu(),
        "host": platform.node(),
        "process": str(os.getpid()),
        **versions,
    }


@cache
def _cpu() -> str:
    """The kind of processor, if the system tells it."""
    try:
        with Path("/proc/cpuinfo").open() as lines:
            names = (line.split(":", 1)[1].strip() for line in lines if "model name" in line)
            return next(names, platform.processor())
    except OSError:
        return platform.processor()
