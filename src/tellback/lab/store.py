"""The store: one immutable file a run, named by the run's identity."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars

from tellback.arrays import Array, Indices
from tellback.errors import TellbackError
from tellback.files import demand_writable, remove_leftovers, written_whole
from tellback.lab.study import RunSpec
from tellback.run import Run

CURVE_POINTS = 200
_MAGIC = b"PAR1"  # a Parquet file begins and ends with it


def curve_rounds(rounds: int) -> Indices:
    """The rounds at which a regret curve is kept: evenly spaced, the last among them."""
    points: Indices = np.unique(np.linspace(1, rounds, min(rounds, CURVE_POINTS)).round())
    return points.astype(np.int64)


class Store:
    """Results in a folder.

    A result file holds nothing but what follows from the run's configuration, so that it
    is the same whoever computes it and when, on one kind of processor and with the same
    versions of the libraries (in the last bits, compiled sums and trained encoders depend on
    those); times, machine and versions are in a sidecar. Hence runs that are done are skipped,
    an interrupted study goes on where it stopped, and the results of two such machines merge
    by copying files.

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
        identity = run.identity
        return self.folder / identity[:2] / f"{identity}.parquet"

    def has(self, run: RunSpec) -> bool:
        """Whether the run's file is there and whole; a truncated one does not count."""
        path = self.path(run)
        try:
            with path.open("rb") as file:
                begins = file.read(len(_MAGIC))
                file.seek(-len(_MAGIC), 2)
                return begins == _MAGIC and file.read() == _MAGIC
        except OSError:
            return False

    def write(self, run: RunSpec, record: Run, about: Mapping[str, Any]) -> None:
        """Keep a run: its regret curve in one file, how it came about in a sidecar."""
        at = curve_rounds(run.rounds)
        curve = polars.DataFrame({"t": at, "regret": record.regret[at - 1]})
        path = self.path(run)
        with written_whole(path.with_suffix(".json")) as temporary:
            temporary.write_text(json.dumps({**run.to_data(), **about}, indent=1))
        with written_whole(path) as temporary:
            curve.write_parquet(temporary)

    def curve(self, run: RunSpec) -> Array:
        """The regret of a run at ``curve_rounds``."""
        path = self.path(run)
        try:
            return polars.read_parquet(path)["regret"].to_numpy()
        except (OSError, polars.exceptions.PolarsError) as error:
            raise TellbackError(
                f"{path} cannot be read ({error}). Delete it and run the study again."
            ) from error

    def curves(self, runs: Sequence[RunSpec]) -> Array:
        """The regret of runs of equal length at ``curve_rounds``, a row a run."""
        paths = [self.path(run) for run in runs]
        try:  # all files in one call: a hundred times faster than one by one
            together = polars.read_parquet(paths, columns=["regret"])["regret"].to_numpy()
            return together.reshape(len(runs), -1)
        except (OSError, ValueError, polars.exceptions.PolarsError):
            return np.array([self.curve(run) for run in runs])  # names the file at fault
