"""``tellback league``: every agent in every world."""

from __future__ import annotations

import typer

from tellback.cli.options import RESULTS, On, ResultsFolder, Reuse, Scale, Workers
from tellback.cli.show import print_section, print_written, run_and_show


def league(
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    scale: Scale = 1.0,
    reuse: Reuse = False,
) -> None:
    """Every agent in every world, and the recommended one against a rival.

    The rival is the paper's LORIL, where that can play, tuned over a grid wider than its own.

    Settings are chosen on some seeds and reported on others. About an hour on two cores;
    runs that ``tellback paper`` has played are not played again. Needs the vision extra.
    Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.errors import real
    from tellback.extras import from_extra
    from tellback.files import demand_writable
    from tellback.lab import Store
    from tellback.lab.report import write_report
    from tellback.league.plan import TITLE, league_worlds
    from tellback.league.table import bars_section, league_section, settings_section

    real("scale", scale, above=0, at_most=1)
    from_extra("vision", "torch", "The image world of the league")
    demand_writable(results / "league")
    played = league_worlds()
    studies = [study for place in played for study in place.studies(scale)]
    found, complete = run_and_show(studies, Store(results / "runs"), on, workers, reuse)
    if not complete:  # a table is of all of it
        raise typer.Exit(1)
    named = {one.study.name: one for one in found}
    sections = [section(played, named) for section in (bars_section, league_section)]
    for section in sections:
        print_section(section)
    sections.append(settings_section(played, named))
    shown = [named[place.name] for place in played]
    print_written(write_report(TITLE, shown, results / "league", sections))
