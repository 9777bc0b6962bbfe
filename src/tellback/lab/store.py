"""The store: one immutable file a run, named by the run's identity."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars

from tellback.arrays import Array
from tellback.errors import TellbackError
from tellback.files import atomic_write, demand_writable, remove_leftovers
from tellback.lab.checksummed import is_sound, sealed
from tellback.lab.curve import curve_rounds
from tellback.lab.run_one import Failure, Finished
from tellback.lab.study import RunSpec, identity_of

AT_A_TIME = 1000  # files read in one call, so that memory does not grow with their number


@dataclass(frozen=True)
class StoredRuns:
    """What a store has of some runs.

    Attributes
    ----------
    curves : dict of RunSpec to Array
        The regret at ``curve_rounds`` of every run whose file is there and sound.
    damaged : list of RunSpec
        The runs whose file is there but truncated, altered, or another run's.
    """

    curves: dict[RunSpec, Array] = field(default_factory=dict)
    damaged: list[RunSpec] = field(default_factory=list)


class Store:
    """Results in a folder.

    A result file holds nothing but what follows from the run's configuration, so that it
    is the same whoever computes it and when, on one kind of processor and with the same
    versions of the libraries (in the last bits, compiled sums and trained encoders depend on
    those); times, machine and versions are in a sidecar. Hence runs that are done are skipped,
    an interrupted study goes on where it stopped, and the results of two such machines merge
    by copying files. Every file carries a digest of its content and of the identity of its
    run: one that was cut off, altered or misnamed is never taken for a result.

    Parameters
    ----------
    folder : path
        Made when something is to be kept in it.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def prepare(self) -> None:
        """Make the folder, and clear it of what killed processes have left."""
        demand_writable(self.folder)
        remove_leftovers(self.folder)

    def path(self, run: RunSpec) -> Path:
        """The file of a run."""
        return Path(self._place(run.identity, "parquet"))

    def _place(self, identity: str, suffix: str) -> str:
        """A file of a run as text, which is quicker to make than a path."""
        return f"{self.folder}/{identity[:2]}/{identity}.{suffix}"

    def has(self, run: RunSpec) -> bool:
        """Whether the run's file is there and sound."""
        return run in self.shelf([run]).curves

    def write(self, finished: Finished) -> None:
        """Keep a run: its regret curve in one file, how it came about in a sidecar."""
        run, data = finished.run, finished.run.to_data()
        identity = identity_of(data)
        if finished.identity not in ("", identity):
            raise TellbackError(
                f"The source of {run.agent.kind} or {run.world.kind} has changed since the run "
                "was played: its result is not kept. Start again."
            )
        path = Path(self._place(identity, "parquet"))
        curve = polars.DataFrame({"t": curve_rounds(run.rounds), "regret": finished.curve})
        parquet = io.BytesIO()
        curve.write_parquet(parquet)
        with atomic_write(path) as temporary:
            temporary.write_bytes(sealed(parquet.getvalue(), identity))
        # Last: a result without it counts as one of another source, and is computed again.
        with atomic_write(path.with_suffix(".json")) as temporary:
            temporary.write_text(json.dumps({**data, **finished.about}, indent=1))
        path.with_suffix(".failed").unlink(missing_ok=True)

    def write_failure(self, failure: Failure) -> None:
        """Keep the traceback of a run, until the run succeeds."""
        with atomic_write(self.path(failure.run).with_suffix(".failed")) as temporary:
            temporary.write_text(failure.traceback, encoding="utf-8")

    def failure(self, run: RunSpec) -> str | None:
        """The traceback with which the run ended when it was last tried."""
        path = self.path(run).with_suffix(".failed")
        return path.read_text(encoding="utf-8") if path.exists() else None

    def discard(self, run: RunSpec) -> None:
        """Remove the result of a run, if there is one."""
        self.path(run).unlink(missing_ok=True)

    def about(self, run: RunSpec | str) -> Mapping[str, Any]:
        """When, where and with what a run was computed; empty where the sidecar is lost.

        The run may be given by its identity.
        """
        identity = run if isinstance(run, str) else run.identity
        try:
            with open(self._place(identity, "json"), "rb") as file:  # noqa: PTH123
                found = json.loads(file.read())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def named(self, name: str) -> RunSpec:
        """The run whose identity begins so, or whose file this is."""
        identity = Path(name).name.split(".")[0]
        if not re.fullmatch("[0-9a-f]{2,40}", identity):
            raise TellbackError(
                f"{name!r} is no run: give two characters or more of its identity, which are "
                "digits and letters from a to f, or its file."
            )
        folder = Path(name).parent if Path(name).exists() else self.folder / identity[:2]
        found = sorted(folder.glob(f"{identity}*.json"))
        if len(found) != 1:
            many = f"{len(found)} runs begin so" if found else f"there is none in {self.folder}"
            raise TellbackError(
                f"{name!r} names no single run: {many}. Give the first characters of its "
                "identity, or its file."
            )
        try:
            run = RunSpec.from_data(json.loads(found[0].read_text()))
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, TellbackError):
                raise
            raise TellbackError(f"{found[0]} cannot be read: {error!r}.") from error
        if run.identity != found[0].stem:
            raise TellbackError(
                f"{found[0]} is of another run than this code would play: the source of an agent "
                "or a world of your own has changed since."
            )
        return run

    def curve(self, run: RunSpec) -> Array:
        """The regret of a run at ``curve_rounds``."""
        return self.curves([run])[run]

    def curves(self, runs: Iterable[RunSpec]) -> dict[RunSpec, Array]:
        """The regret of runs at ``curve_rounds``; an error if one is not there or damaged."""
        wanted = list(runs)
        shelf = self.shelf(wanted)
        for run in wanted:
            if run not in shelf.curves:
                what = "is damaged" if run in shelf.damaged else "is not there"
                raise TellbackError(f"{self.path(run)} {what}. Run the study again.")
        return shelf.curves

    def shelf(self, runs: Iterable[RunSpec]) -> StoredRuns:
        """Read and check what there is of some runs."""
        shelf = StoredRuns()
        there = self._files()
        some = [run for run in dict.fromkeys(runs) if f"{run.identity}.parquet" in there]
        for start in range(0, len(some), AT_A_TIME):
            self._read(some[start : start + AT_A_TIME], shelf)
        return shelf

    def _files(self) -> set[str]:
        """The names of all result files: quicker than to ask for thousands one by one."""
        return {path.name for path in self.folder.glob("??/*.parquet")}

    def _read(self, runs: list[RunSpec], shelf: StoredRuns) -> None:
        files = {run: self._sound_file(run) for run in runs}
        shelf.damaged.extend(run for run, file in files.items() if file is None)
        sound = {run: file for run, file in files.items() if file is not None}
        if sound:  # all in one call: a hundred times faster than one by one
            regret = polars.read_parquet(list(sound.values()), columns=["regret"])["regret"]
            ends = np.cumsum([len(curve_rounds(run.rounds)) for run in sound])
            curves = np.split(regret.to_numpy(), ends[:-1])
            shelf.curves.update(zip(sound, curves, strict=True))

    def _sound_file(self, run: RunSpec) -> bytes | None:
        identity = run.identity
        try:
            with open(self._place(identity, "parquet"), "rb") as opened:  # noqa: PTH123
                file = opened.read()
        except OSError:
            return None
        return file if is_sound(file, identity) else None
