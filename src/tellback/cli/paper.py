"""``tellback paper``: the paper's experiments, and its claims."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tellback.cli.options import RESULTS, Full, On, ResultsFolder, Scale, Workers
from tellback.cli.show import (
    conducted,
    console,
    print_results,
    print_section,
    print_written,
    progress,
)

if TYPE_CHECKING:
    from tellback.paper.claims import Claim

app = typer.Typer(
    help="Reproduce the paper's experiments and hold its claims against the result.\n\n"
    "Without a further word: all of them, one after another, and the table of claims.",
)


@app.callback(invoke_without_command=True)
def every(
    context: typer.Context,
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    scale: Scale = 1.0,
    full: Full = False,
) -> None:
    """Reproduce the paper's experiments and hold its claims against the result.

    Without a further word: all of them, one after another, and the table of claims. Ctrl-C
    keeps what is finished; a second call goes on from there.
    """
    from tellback.errors import SettingError
    from tellback.extras import from_extra
    from tellback.paper.claims import claims_section

    if context.invoked_subcommand is not None:
        if (results, workers, on, scale, full) != (RESULTS, None, "here", 1.0, False):
            raise SettingError(f"Write options after {context.invoked_subcommand}, not before it.")
        return
    from_extra("vision", "torch", "The second experiment")  # rather now than in ten minutes
    places = results, workers, on, scale
    claims = [*_synthetic(*places, full), *_images(*places, full), *_theory(*places)]
    print_section(claims_section(claims))


@app.command()
def synthetic(
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    scale: Scale = 1.0,
    full: Full = False,
) -> None:
    """The first experiment: LORIL against greedy, epsilon-greedy and random.

    Both tie rules, both readings of the sizes, the paper's grids; then the same fitted by the
    paper's optimiser, Adam. Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.paper.claims import claims_section

    print_section(claims_section(_synthetic(results, workers, on, scale, full)))


@app.command()
def images(
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    scale: Scale = 1.0,
    full: Full = False,
) -> None:
    """The second experiment: pictures to choose from, asked for in words.

    Trains the paper's autoencoder once, then plays LORIL, greedy, epsilon-greedy and random
    with a GRU that learns from descriptions, on the paper's grids. Needs the vision extra.
    Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.paper.claims import claims_section

    print_section(claims_section(_images(results, workers, on, scale, full)))


@app.command()
def theory(
    results: ResultsFolder = RESULTS, workers: Workers = None, on: On = "here", scale: Scale = 1.0
) -> None:
    """The theorems: each statement held against runs, and what it promises shown.

    The lower bound's worlds, the confidence ellipsoid and the regret bound where they can be
    had exactly, regret against |Y|, d and T, an adversary, and what rewards or demonstrations
    would teach instead of descriptions. Ctrl-C keeps the studies' runs that are finished; the
    simulations after them take a minute or two and are done anew.
    """
    from tellback.paper.claims import claims_section

    print_section(claims_section(_theory(results, workers, on, scale)))


def _synthetic(
    results: Path, workers: int | None, on: str, scale: float, full: bool
) -> list[Claim]:
    from tellback.paper import optimiser
    from tellback.paper import synthetic as experiment

    folders = [_folder(results, name, scale) for name in ("synthetic", "adam")]
    by_em, by_adam = experiment.plan(scale), optimiser.plan(scale, full)
    judge = partial(_each, claimed=experiment.CLAIMED)
    claims, _ = _reported(by_em, judge, results, folders[0], on, workers)
    more, _ = _reported(by_adam, optimiser.claims, results, folders[1], on, workers)
    return [*claims, *more]


def _images(results: Path, workers: int | None, on: str, scale: float, full: bool) -> list[Claim]:
    from tellback.paper import images as experiment
    from tellback.paper import sheets

    folder = _folder(results, "images", scale)
    plan = experiment.plan(scale, full)
    judge = partial(_each, claimed=experiment.CLAIMED)
    claims, found = _reported(plan, judge, results, folder, on, workers)
    worlds = list(experiment.worlds(scale, full).values())
    print_written(sheets.draw(found[0], worlds, folder))
    return claims


def _theory(results: Path, workers: int | None, on: str, scale: float) -> list[Claim]:
    from tellback.lab import Store
    from tellback.lab.report import write_report
    from tellback.paper.claims import claims_section
    from tellback.paper.theory import plan

    folder = _folder(results, "theory", scale)
    found, complete = conducted(plan.studies(scale), Store(results / "runs"), on, workers)
    if not complete:
        raise typer.Exit(1)
    with progress(console(stderr=True)) as show:
        findings = plan.findings(found, scale, show)
    section = claims_section(list(findings.claims))
    shown = plan.reported(found, scale)
    print_results(shown)
    print_written(write_report(plan.TITLE, shown, folder, [section], findings.pictures, ()))
    return list(findings.claims)


def _folder(results: Path, name: str, scale: float) -> Path:
    """The folder of an experiment, before any work starts."""
    from tellback.errors import real
    from tellback.files import demand_writable

    real("scale", scale, above=0, at_most=1)
    demand_writable(results / name)
    return results / name


def _each(found: list[Any], claimed: Any) -> list[Claim]:
    """The claim held against every study that has LORIL in it."""
    from tellback.paper.claims import claim

    return [claim(one, claimed) for one in found if "LORIL" in one.study.agents]


def _reported(
    plan: Any,
    judge: Callable[[list[Any]], list[Claim]],
    results: Path,
    folder: Path,
    on: str,
    workers: int | None,
) -> tuple[list[Claim], list[Any]]:
    """Run a plan, hold claims against its studies, write the report."""
    from tellback.lab import Store
    from tellback.lab.report import write_report
    from tellback.paper.claims import claims_section

    found, complete = conducted(plan.studies, Store(results / "runs"), on, workers)
    if not complete:  # what the paper claims is of all of it
        raise typer.Exit(1)
    print_results(found)
    claims = judge(found)
    print_written(write_report(plan.title, found, folder, [claims_section(claims)]))
    return claims, found
