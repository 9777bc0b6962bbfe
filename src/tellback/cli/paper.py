"""``tellback paper``: the paper's experiments, and its claims."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from tellback.cli.options import RESULTS, Full, On, ResultsFolder, Reuse, Scale, Workers
from tellback.cli.show import (
    console,
    print_claims,
    print_results,
    print_written,
    progress,
    run_and_show,
)

if TYPE_CHECKING:
    from tellback.paper.claims import Claim


class Options(NamedTuple):
    """What all experiments are told."""

    results: Path = RESULTS
    workers: int | None = None
    on: str = "here"
    scale: float = 1.0
    full: bool = False
    reuse: bool = False


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
    reuse: Reuse = False,
) -> None:
    """Reproduce the paper's experiments and hold its claims against the result.

    Without a further word: all of them, one after another, and the table of claims. Ctrl-C
    keeps what is finished; a second call goes on from there.
    """
    from tellback.errors import SettingError
    from tellback.extras import from_extra

    options = Options(results, workers, on, scale, full, reuse)
    if context.invoked_subcommand is not None:
        if options != Options():
            raise SettingError(f"Write options after {context.invoked_subcommand}, not before it.")
        return
    from_extra("vision", "torch", "The second experiment")  # rather now than in ten minutes
    claims = [*_synthetic(options), *_images(options), *_theory(options)]
    _print_claims(claims, options)


def _synthetic(options: Options) -> list[Claim]:
    """The first experiment: LORIL against greedy, epsilon-greedy and random.

    Both tie rules, both readings of the sizes, the paper's grids; then the same fitted by the
    paper's optimiser, Adam. Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.paper import optimiser
    from tellback.paper import synthetic as experiment

    by_em, by_adam = (_folder(options, name) for name in ("synthetic", "adam"))
    judge = partial(_each, claimed=experiment.CLAIMED)
    claims = _reported(experiment.plan(options.scale), judge, by_em, options)[0]
    plan = optimiser.plan(options.scale, options.full)
    return [*claims, *_reported(plan, optimiser.claims, by_adam, options)[0]]


def _images(options: Options) -> list[Claim]:
    """The second experiment: pictures to choose from, asked for in words.

    Trains the paper's autoencoder once, then plays LORIL, greedy, epsilon-greedy and random
    with a GRU that learns from descriptions, on the paper's grids. Needs the vision extra.
    Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.paper import image_figures
    from tellback.paper import images as experiment

    folder = _folder(options, "images")
    plan = experiment.plan(options.scale, options.full)
    judge = partial(_each, claimed=experiment.CLAIMED)
    claims, found = _reported(plan, judge, folder, options)
    worlds = list(experiment.worlds(options.scale, options.full).values())
    print_written(image_figures.draw(found[0], worlds, folder))
    return claims


def _theory(options: Options) -> list[Claim]:
    """The theorems: each statement held against runs, and what it promises shown.

    The lower bound's worlds, the confidence ellipsoid and the regret bound where they can be
    had exactly, regret against |Y|, d and T, an adversary, and what rewards or demonstrations
    would teach instead of descriptions. Ctrl-C keeps the studies' runs that are finished; the
    simulations after them take a minute or two and are done anew.
    """
    from tellback.lab.report import write_report
    from tellback.paper.claims import claims_section
    from tellback.paper.theory import plan

    folder = _folder(options, "theory")
    found = _found(plan.studies(options.scale), options)
    with progress(console(stderr=True)) as show:
        findings = plan.findings(found, options.scale, show)
    section = claims_section(list(findings.claims))
    shown = plan.reported(found, options.scale)
    print_results(shown)
    print_written(write_report(plan.TITLE, shown, folder, [section], findings.pictures, ()))
    return list(findings.claims)


def _command(experiment: Callable[[Options], list[Claim]]) -> Callable[..., None]:
    """The command of an experiment, with the options that all of them have."""

    def command(
        results: ResultsFolder = RESULTS,
        workers: Workers = None,
        on: On = "here",
        scale: Scale = 1.0,
        full: Full = False,
        reuse: Reuse = False,
    ) -> None:
        options = Options(results, workers, on, scale, full, reuse)
        _print_claims(experiment(options), options)

    return command


for _name, _experiment in (("synthetic", _synthetic), ("images", _images), ("theory", _theory)):
    app.command(_name, help=_experiment.__doc__)(_command(_experiment))


def _print_claims(claims: list[Claim], options: Options) -> None:
    """The claims in short, and a page with their notes and the way to every report there is."""
    from tellback.files import atomic_write
    from tellback.lab.report import Section
    from tellback.lab.report.markup import element
    from tellback.lab.report.page import page
    from tellback.paper.claims import claims_section

    print_claims(claims)
    reports = sorted(options.results.glob("*/report.html"))
    links = [
        (report.parent.name, element("a", report, href=f"{report.parent.name}/report.html"))
        for report in reports
    ]
    sections = [claims_section(claims), Section("The reports", ("experiment", "page"), links)]
    path = options.results / "report.html"
    with atomic_write(path) as temporary:
        temporary.write_text(page("The paper's claims", [], sections), encoding="utf-8")
    console().print(
        f"\nEvery claim with its notes, and all reports: [bold]{path}[/]", soft_wrap=True
    )


def _folder(options: Options, name: str) -> Path:
    """The folder of an experiment, before any work starts."""
    from tellback.errors import real
    from tellback.files import demand_writable

    real("scale", options.scale, above=0, at_most=1)
    demand_writable(options.results / name)
    return options.results / name


def _each(found: list[Any], claimed: Any) -> list[Claim]:
    """The claim held against every study that has LORIL in it."""
    from tellback.paper.claims import claim

    return [claim(one, claimed) for one in found if "LORIL" in one.study.agents]


def _reported(
    plan: Any, judge: Callable[[list[Any]], list[Claim]], folder: Path, options: Options
) -> tuple[list[Claim], list[Any]]:
    """Run a plan, hold claims against its studies, write the report."""
    from tellback.lab.report import write_report
    from tellback.paper.claims import claims_section

    found = _found(plan.studies, options, lambda results: verdicts(judge([results])))
    print_results(found)
    claims = judge(found)
    print_written(write_report(plan.title, found, folder, [claims_section(claims)]))
    return claims, found


def verdicts(claims: list[Claim]) -> list[str]:
    """Each verdict in a line, for those who wait."""
    return [f"{one.claim}. {one.reading}: {one.measured}: {one.verdict}." for one in claims]


def _found(
    studies: Any, options: Options, complete: Callable[[Any], list[str]] = lambda results: []
) -> list[Any]:
    """The results of studies; the command ends if a run failed: claims are about all of them."""
    from tellback.lab import Store

    store = Store(options.results / "runs")
    found, all_done = run_and_show(
        studies, store, options.on, options.workers, options.reuse, complete=complete
    )
    if not all_done:
        raise typer.Exit(1)
    return found
