"""``tellback diagnose``: theory, tuning or a bug."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tellback.cli.options import RESULTS, ResultsFolder
from tellback.cli.show import console, print_written, progress


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

    spec = Store(results / "runs").named(run)
    played = 0
    with progress(console(stderr=True)) as show:

        def count(rounds: int) -> None:
            nonlocal played
            played += rounds
            show("playing it again, rounds", played, spec.rounds)

        found = look_into(spec, count)
    about = (
        f"{spec.agent.label()} in {spec.world.brief()}, {spec.rounds:,} rounds, seed {spec.seed}"
    )
    out = console()
    out.print(f"{about}\n", markup=False, highlight=False, soft_wrap=True)
    out.print(str(found), markup=False, highlight=False, soft_wrap=True)
    if table is not None:
        print_written([write_table(found.table(), table)])
