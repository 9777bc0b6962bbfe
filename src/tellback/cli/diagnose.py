"""``tellback diagnose``: theory, tuning or a bug."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import RESULTS, Imports, Json, ResultsFolder
from tellback.cli.show import console, counted_rounds, print_written, progress, say


def diagnose(
    run: Annotated[
        str,
        typer.Argument(help="The first characters of a run's identity, or its file."),
    ],
    results: ResultsFolder = RESULTS,
    modules: Imports = None,
    table: Annotated[
        Path | None, typer.Option(help="Also write the readings of every round, .csv or .parquet.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say why the regret of a run is what it is: theory, tuning or a bug.

    Plays the run again, with instruments: calibration, the likelihood gap, misspecification,
    exploration, ties. 'tellback study status FILE --runs' lists runs with their identities.
    """
    import numpy as np

    from tellback.conformance.imported import import_own
    from tellback.lab import Store
    from tellback.lab.diagnose import diagnose as look_into
    from tellback.lab.report import write_table
    from tellback.lab.run_one import curve_rounds

    for module in modules or ():
        import_own(module)
    store = Store(results / "runs")
    spec = store.named(run)
    with progress(console(stderr=True)) as show:
        spec.world.prepare(show)
    with counted_rounds("playing it again, rounds", spec.rounds) as played:
        found = look_into(spec, played)
    about = (
        f"{spec.agent.label()} in {spec.world.brief()}, {spec.rounds:,} rounds, seed {spec.seed}"
    )
    regret = np.cumsum(found.readings.regrets)[curve_rounds(spec.rounds) - 1]
    # A file that was named by its path may be in no store of this folder.
    if store.has(spec) and not np.array_equal(regret, store.curve(spec)):
        say(
            "What was played now is not, to the bit, the run that is kept: it was computed on "
            "another kind of machine, or by other code.\n",
            stderr=as_json,
        )
    if as_json:
        said = {"cause": found.cause, "verdict": found.verdict, "checks": found.checks}
        print_json({"run": spec.identity, "about": about, **said})
    else:
        say(f"{about}\n\n{found}")
    if table is not None:
        print_written([write_table(found.table(), table)], stderr=as_json)
