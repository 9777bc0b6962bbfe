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

from tellback.arrays import Array
from tellback.errors import TellbackError
from tellback.files import atomic_write, demand_writable, remove_leftovers
from tellback.lab.checksummed import checksum_matches, with_checksum
from tellback.lab.run_one import Failure, Finished
from tellback.lab.run_spec import RunSpec, identity_of

AT_A_TIME = 1000  # files read in one call, to bound memory


@dataclass(frozen=True)
class StoredRuns:
    """The results of some runs: curves at ``RunSpec.points``, and the runs with a damaged file."""

    curves: dict[RunSpec, Array] = field(default_factory=dict)
    damaged: list[RunSpec] = field(default_factory=list)


class Store:
    """Results in a folder.

    A result file depends only on the run's configuration, on one kind of processor and with the
    same versions of the libraries (compiled sums and trained encoders differ in the last bits).
    Times, machine and versions are in a sidecar. Hence runs that are done are skipped, an
    interrupted study goes on where it stopped, and the results of two such machines merge by
    copying files. Every file has a checksum of its content and of its run's identity: a
    truncated, altered or misnamed file is never taken for a result.

    Parameters
    ----------
    folder : path
        Created when the first result is stored.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def prepare(self) -> None:
        """Create the folder, and remove temporary files that killed processes have left."""
        demand_writable(self.folder)
        remove_leftovers(self.folder)

    def path(self, run: RunSpec) -> Path:
        """The result file of a run."""
        return Path(self._place(run.identity, "parquet"))

    def _place(self, identity: str, suffix: str) -> str:
        """The path of a run's file, as text: faster to build than a Path."""
        return f"{self.folder}/{identity[:2]}/{identity}.{suffix}"

    def has(self, run: RunSpec) -> bool:
        """Whether the run has an intact file."""
        return run in self.read([run]).curves

    def write(self, finished: Finished) -> None:
        """Store a run: its regret curve in one file, time, machine and versions in a sidecar."""
        import polars  # here, so that workers, which only play, start sooner

        run, data = finished.run, finished.run.to_data()
        identity = identity_of(data)
        if finished.identity not in ("", identity):
            raise TellbackError(
                f"The source of {run.agent.kind} or {run.world.kind} has changed since the run "
                "was played: its result is not stored. Start again."
            )
        path = Path(self._place(identity, "parquet"))
        curve = polars.DataFrame({"t": run.points(), "regret": finished.curve})
        parquet = io.BytesIO()
        curve.write_parquet(parquet)
        # The result appears after its sidecar, and never beside the sidecar of another: killed in
        # between, the run is missing and is played again.
        with atomic_write(path) as result, atomic_write(path.with_suffix(".json")) as sidecar:
            result.write_bytes(with_checksum(parquet.getvalue(), identity))
            sidecar.write_text(json.dumps({**data, **finished.about}, indent=1))
            path.unlink(missing_ok=True)
        path.with_suffix(".failed").unlink(missing_ok=True)

    def write_failure(self, failure: Failure) -> None:
        """Store the traceback of a run, until the run succeeds."""
        with atomic_write(self.path(failure.run).with_suffix(".failed")) as temporary:
            temporary.write_text(failure.traceback, encoding="utf-8")

    def failure(self, run: RunSpec) -> str | None:
        """The traceback of the run's last attempt, if that failed."""
        path = self.path(run).with_suffix(".failed")
        return path.read_text(encoding="utf-8") if path.exists() else None

    def discard(self, run: RunSpec) -> None:
        """Remove the result of a run, if there is one."""
        self.path(run).unlink(missing_ok=True)

    def about(self, run: RunSpec | str) -> Mapping[str, Any]:
        """Time, machine and versions of a run; empty if its sidecar is lost.

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
        """The run whose identity begins with the name, or whose file it is."""
        identity = Path(name).name.split(".")[0]
        if not re.fullmatch("[0-9a-f]{2,40}", identity):
            raise TellbackError(
                f"{name!r} is no run: give its file, or two or more characters of its identity "
                "(digits and letters from a to f)."
            )
        folder = Path(name).parent if Path(name).exists() else self.folder / identity[:2]
        found = sorted(folder.glob(f"{identity}*.json"))
        if len(found) != 1:
            many = f"{len(found)} begin so" if found else f"there is none in {self.folder}"
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
                f"{found[0]} is a run of earlier source code: that of your own agent or world has "
                "changed since."
            )
        return run

    def curve(self, run: RunSpec) -> Array:
        """The regret of a run at ``RunSpec.points``."""
        return self.curves([run])[run]

    def curves(self, runs: Iterable[RunSpec]) -> dict[RunSpec, Array]:
        """The regret of runs at ``RunSpec.points``; an error if one is missing or damaged."""
        wanted = list(runs)
        stored = self.read(wanted)
        for run in wanted:
            if run not in stored.curves:
                what = "is damaged" if run in stored.damaged else "is not there"
                raise TellbackError(f"{self.path(run)} {what}. Run the study again.")
        return stored.curves

    def read(self, runs: Iterable[RunSpec]) -> StoredRuns:
        """Read the results of some runs and check their files; runs without a file are left out."""
        stored = StoredRuns()
        wanted = list(dict.fromkeys(runs))
        for start in range(0, len(wanted), AT_A_TIME):
            self._read_files(wanted[start : start + AT_A_TIME], stored)
        return stored

    def _read_files(self, runs: list[RunSpec], stored: StoredRuns) -> None:
        sound: dict[RunSpec, bytes] = {}
        for run in runs:
            place = self._place(run.identity, "parquet")
            try:  # no folder is listed: the store may hold many other studies
                with open(place, "rb") as opened:  # noqa: PTH123
                    file = opened.read()
            except OSError as error:
                absent = isinstance(error, FileNotFoundError | NotADirectoryError)
                if absent and not Path(place).is_symlink():
                    continue
                file = b""
            if checksum_matches(file, run.identity):
                sound[run] = file
            else:
                stored.damaged.append(run)
        if sound:  # all in one call: a hundred times faster than one by one
            import polars

            regret = polars.read_parquet(list(sound.values()), columns=["regret"])["regret"]
            ends = np.cumsum([len(run.points()) for run in sound])
            curves = np.split(regret.to_numpy(), ends[:-1])
            stored.curves.update(zip(sound, curves, strict=True))
