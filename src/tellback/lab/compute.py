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
    """

    run: RunSpec
    curve: Array
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """A run that raised an error."""

    run: RunSpec
    traceback: str


Outcome = Finished | Failure


class StoppedError(Exception):
    """Raised within a run when its study is stopped."""


def compute(
    run: RunSpec, progress: Callable[[int], object] | None = None, isolated: bool = False
) -> Outcome:
    """Play a run; an error becomes a Failure with its traceback."""
    began = time.time()
    try:
        record = play(
            run.world, run.agent, run.rounds, seed=run.seed, progress=progress, isolated=isolated
        )
        checked = record.match_check
        if isinstance(record.agent, IsolatedAgent):
            record.agent.close()
    except BaseException:  # an agent that calls sys.exit() must not end the study
        return Failure(run, traceback.format_exc())
    about = {"began": began, "seconds": time.time() - began, **_machine()}
    about |= {"isolated": isolated, "match_check": checked and checked.data()}
    return Finished(run, record.regret[curve_rounds(run.rounds) - 1], about)


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
