"""``tellback study``: comparisons declared in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tellback.cli.as_json import print_json, results_data, status_data
from tellback.cli.options import RESULTS, Isolated, Json, On, Pdf, ResultsFolder, Reuse, Workers
from tellback.cli.show import (
    console,
    escape,
    print_results,
    print_warnings,
    print_written,
    run_and_show,
    say,
)

if TYPE_CHECKING:
    from tellback.lab import Results, Store
    from tellback.lab.plan import Plan

app = typer.Typer(
    help="Comparisons declared in a TOML file: run them, see how far they are, report.\n\n"
    "Begin with [bold]tellback study run examples/quick.toml[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

To = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the report.", show_default="studies/NAME in the results folder"
    ),
]
File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The studies; see examples/.")]


@app.command()
def run(
    file: File,
    results: ResultsFolder = RESULTS,
    to: To = None,
    workers: Workers = None,
    on: On = "here",
    reuse: Reuse = False,
    isolated: Isolated = False,
    pdf: Pdf = False,
    as_json: Json = False,
) -> None:
    """Run what is not done yet, compare, and write the report.

    Ctrl-C, or worse, loses nothing that was finished: the same command goes on from there.
    """
    plan, store = _read(file, results)
    found, complete = run_and_show(plan.studies, store, on, workers, reuse, isolated)
    _report(plan, found, to or _folder(results, file), pdf, as_json)
    if not complete:
        raise typer.Exit(1)


@app.command()
def status(
    file: File,
    results: ResultsFolder = RESULTS,
    runs: Annotated[
        bool, typer.Option("--runs", help="Also list every run that is done or failed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say how much is done, what failed, and what is damaged."""
    from rich.table import Table

    from tellback.lab.status import status_of

    plan, store = _read(file, results)
    table = Table("study", "done", "planned", "failed", "damaged", "rounds", "time so far")
    statuses = [status_of(study, store) for study in plan.studies]
    if as_json:
        print_json([status_data(one) for one in statuses])
        return
    for one in statuses:
        table.add_row(
            escape(one.study.name),
            f"{len(one.done):,}",
            f"{len(one.planned):,}{' or more' if one.study.decide and one.results is None else ''}",
            f"{len(one.failed):,}",
            f"{len(one.damaged):,}",
            f"{one.rounds_done:,} of {one.rounds_planned:,}",
            f"{one.provenance.seconds:,.0f} s of one processor",
        )
    console().print(table)
    for one in statuses:
        sources = one.provenance.sources
        if one.done:
            said = sources.warning or f"All by source {sources} of tellback."
            say(f"{one.study.name}: {said}")
        for run in one.damaged:
            say(f"damaged: {store.path(run)}")
        for run, traceback in one.failed.items():
            say(f"failed: {run.brief()}: {traceback.strip().splitlines()[-1]}")
        for run in one.done if runs else ():
            say(f"done: {run.brief()}")


@app.command()
def report(
    file: File,
    results: ResultsFolder = RESULTS,
    to: To = None,
    pdf: Pdf = False,
    as_json: Json = False,
) -> None:
    """Compare and write the report of what is done; nothing is computed.

    Studies of the file that are not finished are named and left out, and the exit code is 1.
    """
    plan, store = _read(file, results)
    found, complete = _finished(plan, store)
    _report(plan, found, to or _folder(results, file), pdf, as_json)
    if not complete:
        raise typer.Exit(1)


@app.command()
def export(
    file: File,
    to: Annotated[Path, typer.Argument(metavar="TABLE", help="A .csv or .parquet file to write.")],
    what: Annotated[
        str, typer.Option(help="curves (a row a kept round), or finals (a row a run).")
    ] = "curves",
    results: ResultsFolder = RESULTS,
) -> None:
    """Write the results of what is done as one table, CSV or Parquet."""
    import polars

    from tellback.errors import one_of
    from tellback.files import demand_folder_of
    from tellback.lab.report import write_table

    one_of("what", what, ["curves", "finals"])
    demand_folder_of(to)
    plan, store = _read(file, results)
    found, complete = _finished(plan, store)
    print_warnings(found)
    tables = [one.table() if what == "curves" else one.finals() for one in found]
    if tables:
        print_written([write_table(polars.concat(tables), to)])
    if not complete:
        raise typer.Exit(1)


def _read(file: Path, results: Path) -> tuple[Plan, Store]:
    from tellback.lab import Store
    from tellback.lab.study_file import read_plan

    return read_plan(file), Store(results / "runs")


def _finished(plan: Plan, store: Store) -> tuple[list[Results], bool]:
    """The results of the studies that are done, and whether all are; the others are named."""
    from tellback.errors import TellbackError
    from tellback.lab.status import finished

    found = []
    for study in plan.studies:
        try:
            found.append(finished(study, store))
        except TellbackError as error:
            say(error, stderr=True)
    return found, len(found) == len(plan.studies)


def _folder(results: Path, file: Path) -> Path:
    """Where the report of a file goes by default: not where runs or other reports are."""
    return results / "studies" / file.stem


def _report(plan: Plan, found: list[Results], folder: Path, pdf: bool, as_json: bool) -> None:
    from tellback.lab.report import write_report

    if as_json:
        print_json(results_data(found))
    elif found:
        print_results(found)
    if found:
        print_written(write_report(plan.title, found, folder, pdf=pdf), stderr=as_json)
