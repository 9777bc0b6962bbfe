"""One run, computed: what came of it, wherever that happened."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tellback import __version__
from tellback.arrays import Array
from tellback.compiled import source_digest
from tellback.isolation import IsolatedAgent
from tellback.lab.curve import curve_rounds
from tellback.lab.study import RunSpec
from tellback.protocol import play
from tellback.sources import Rooms, note_package


@dataclass(frozen=True, eq=False)
class Finished:
    """A run that was played to its end.

    Attributes
    ----------
    curve : Array
        Its regret at ``curve_rounds``.
    about : mapping
        When, where and with what it was computed: nothing that its result depends on, except
        in the last bits.
    identity : str
        That of what was played; '' stands for that of the run.
    """

    run: RunSpec
    curve: Array
    about: Mapping[str, Any] = field(default_factory=dict)
    identity: str = ""


@dataclass(frozen=True)
class Failure:
    """A run that raised an error."""

    run: RunSpec
    traceback: str


@dataclass(frozen=True)
class Changed(Failure):
    """A run of another source than was asked for: it has no result that could be kept."""


Outcome = Finished | Failure


@dataclass(frozen=True)
class Order:
    """A run for a worker, with what it must turn out to be there.

    Attributes
    ----------
    identity : str
        The run's.
    rooms : Rooms
        The rooms of tellback that it depends on.
    """

    run: RunSpec
    identity: str
    rooms: Rooms


def order(run: RunSpec) -> Order:
    """The order for a run, by the files as they are now."""
    return Order(run, run.identity, run.rooms())


class StoppedError(Exception):
    """Raised within a run when its study is stopped."""


def run_one(
    ordered: Order | RunSpec,
    progress: Callable[[int], object] | None = None,
    isolated: bool = False,
) -> Outcome:
    """Play a run; an error becomes a Failure with its traceback.

    What is played must be what was ordered, before and after: a file may have been edited
    since this process loaded it, or while the run was going on.
    """
    run = ordered.run if isinstance(ordered, Order) else ordered
    began = time.time()
    try:
        wanted = ordered if isinstance(ordered, Order) else order(ordered)
        if said := _differs(wanted, played=False):
            return Changed(run, said)
        record = play(
            run.world, run.agent, run.rounds, seed=run.seed, progress=progress, isolated=isolated
        )
        checked = record.match_check
        if isinstance(record.agent, IsolatedAgent):
            record.agent.close()
        if said := _differs(wanted, played=True):
            return Changed(run, said)
    except BaseException:  # an agent that calls sys.exit() must not end the study
        return Failure(run, traceback.format_exc())
    about = {"began": began, "seconds": time.time() - began, **_machine()}
    about |= {"isolated": isolated, "match_check": checked and checked.data()}
    about["rooms"] = wanted.rooms.digests
    curve = record.regret[curve_rounds(run.rounds) - 1]
    return Finished(run, curve, about, wanted.identity)


def _differs(wanted: Order, played: bool) -> str:
    """What differs from what was ordered, if anything does.

    Of tellback itself, it is enough to look when the run has been played: what was loaded then
    is what the files say.
    """
    run = wanted.run
    if edited := run.edited(package=played):
        return f"{' and '.join(edited)} changed after being loaded: {AGAIN}"
    if run.identity != wanted.identity:
        return (
            f"The source of {run.agent.kind} or {run.world.kind} on {platform.node()} is not what "
            f"it was when the run was started, or not the same in all processes: {AGAIN}"
        )
    if played and (found := changed_rooms(wanted.rooms.digests, run.rooms(wanted.rooms).digests)):
        return (
            f"tellback on {platform.node()} has another source of {', '.join(found)} than where "
            f"the run was started: {AGAIN}"
        )
    return ""


def changed_rooms(before: object, now: Mapping[str, str]) -> list[str]:
    """The rooms of tellback whose source differs; all where it is not known what it was."""
    known = before if isinstance(before, Mapping) else {}
    return [room for room in sorted({*known, *now}) if known.get(room) != now.get(room)]


AGAIN = "what was played since is not kept. Start again."

note_package()


def _machine() -> dict[str, str]:
    """What a result may depend on beside its configuration, in the last bits."""
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
    """The kind of processor, where the system tells it."""
    try:
        with Path("/proc/cpuinfo").open() as lines:
            names = (line.split(":", 1)[1].strip() for line in lines if "model name" in line)
            return next(names, platform.processor())
    except OSError:
        return platform.processor()
