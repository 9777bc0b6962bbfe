"""``tellback diagnose``: theory, tuning or a bug."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tellback.cli.options import RESULTS, ResultsFolder
from tellback.cli.show import console


def diagnose(
    run: Annotated[
        str,
        typer.Argument(help="The first characters of a run's identity, or its file."),
    ],
    results: ResultsFolder = RESULTS,
    table: Annotated[
        Path | None, typer.Option(help="Also write the readings of every round, .csv or .parquet.")
    ] = None,
) -> None:
    """Say why the regret of a run is what it is: theory, tuning or a bug.

    Plays the run again, with instruments: calibration, the likelihood gap, misspecification,
    exploration, ties. 'tellback study status FILE --runs' lists runs with their identities.
    """
    from tellback.lab import Store
    from tellback.lab.diagnose import diagnose as look_into
    from tellback.lab.report import write_table

    found = look_into(Store(results / "runs").named(run))
    console().print(str(found), markup=False, highlight=False)
    if table is not None:
        write_table(found.table(), table)
