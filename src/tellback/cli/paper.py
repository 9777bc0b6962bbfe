"""``tellback paper``: the paper's experiments, and its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    run_and_show,
    say,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tellback.lab import Results, Study
    from tellback.lab.engines.beside import Beside
    from tellback.lab.plan import Plan
    from tellback.paper.claims import Claim
    from tellback.paper.theory.experiment import Experiment

    Judge = Callable[[list[Results]], list[Claim]]
    Report = Callable[[list[Results], Path], tuple[list[Claim], list[Path]]]


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
    synthetic, images, theory = (part(options) for part in (_synthetic, _images, _theory))
    with _beside(options) as beside:
        _simulate(theory, beside)
        prepared = beside.submit(_prepare_images, options.scale, options.full)
        first = _played([*synthetic, *theory], options, beside)
        prepared.result()
        second = _played(images, options, beside)
    by_theory = len(theory)
    claims = [*first[:-by_theory], *second, *first[-by_theory:]]
    _print_claims([claim for of_part in claims for claim in of_part], options)


class Part(NamedTuple):
    """A part of an experiment: what is played, judged and reported together."""

    folder: Path
    judged: Sequence[tuple[Sequence[Study], Judge]]  # studies, and the claims held against them
    report: Report  # called beside the runs
    tables: Callable[[list[Results]], list[Results]] = list  # the results that are printed
    simulations: Sequence[Callable[[], list[Claim]]] = ()  # for claims without studies


def _synthetic(options: Options) -> list[Part]:
    """The first experiment: LORIL against greedy, epsilon-greedy and random.

    Both tie rules, both readings of the sizes, the paper's grids; then the same fitted by the
    paper's optimiser, Adam. Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.paper import optimiser
    from tellback.paper import synthetic as experiment

    by_em, by_adam = (_folder(options, name) for name in ("synthetic", "adam"))
    judge = partial(_each, claimed=experiment.CLAIMED)
    return [
        _of_plan(experiment.plan(options.scale), judge, by_em),
        _of_plan(optimiser.plan(options.scale, options.full), optimiser.claims, by_adam),
    ]


def _images(options: Options) -> list[Part]:
    """The second experiment: pictures to choose from, asked for in words.

    Trains the paper's autoencoder once, then plays LORIL, greedy, epsilon-greedy and random
    with a GRU that learns from descriptions, on the paper's grids. Needs the vision extra.
    Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.paper import images as experiment

    folder = _folder(options, "images")
    plan = experiment.plan(options.scale, options.full)
    part = _of_plan(plan, partial(_each, claimed=experiment.CLAIMED), folder)
    worlds = list(experiment.worlds(options.scale, options.full).values())
    return [part._replace(report=partial(_report_images, part.report, worlds))]


def _theory(options: Options) -> list[Part]:
    """The theorems: each statement held against runs, and what it promises shown.

    The lower bound's worlds, the confidence ellipsoid and the regret bound where they can be
    had exactly, regret against |Y|, d and T, an adversary, and what rewards or demonstrations
    would teach instead of descriptions. Ctrl-C keeps the studies' runs that are finished; the
    simulations beside them take a minute and are done anew.
    """
    from tellback.paper.theory import plan

    folder, scale = _folder(options, "theory"), options.scale
    judged = [
        (studies, partial(_found_out, one, scale))
        for one in plan.EXPERIMENTS
        if (studies := one.studies(scale))
    ]
    return [
        Part(
            folder,
            judged,
            partial(_report_theory, scale),
            tables=partial(plan.reported, scale=scale),
            simulations=[
                partial(plan.simulated_claims, which, scale)
                for which, one in enumerate(plan.EXPERIMENTS)
                if not one.studies(scale)
            ],
        )
    ]


def _of_plan(plan: Plan, judge: Judge, folder: Path) -> Part:
    """A part of studies that are judged one by one."""
    judged = [([study], judge) for study in plan.studies]
    return Part(folder, judged, partial(_report_plan, plan.title, judge))


def _found_out(experiment: Experiment, scale: float, found: list[Results]) -> list[Claim]:
    return list(experiment.finds(found, scale).claims)


def _prepare_images(scale: float, full: bool) -> None:
    """Train the encoders, and compile what the runs need: no worker waits for it."""
    from tellback.lab import RunSpec
    from tellback.paper import images

    for world in images.worlds(scale, full).values():
        world.prepare()
    for study in images.studies(scale, full)[:1]:
        RunSpec(study.world, study.agents["LORIL"][0], rounds=2, seed=study.tuning[0]).perform()


def _report_plan(
    title: str, judge: Judge, found: list[Results], folder: Path
) -> tuple[list[Claim], list[Path]]:
    """Write the report of a plan."""
    from tellback.lab.report import write_report
    from tellback.paper.claims import claims_section

    claims = judge(found)
    return claims, write_report(title, found, folder, [claims_section(claims)])


def _report_images(
    report: Report, worlds: list[Any], found: list[Results], folder: Path
) -> tuple[list[Claim], list[Path]]:
    """Write the report of the second experiment, and draw its world."""
    from tellback.paper import image_figures

    claims, files = report(found, folder)
    return claims, [*image_figures.draw(found[0], worlds, folder), *files]


def _report_theory(
    scale: float, found: list[Results], folder: Path
) -> tuple[list[Claim], list[Path]]:
    """Write the report on the theorems."""
    from tellback.lab.report import write_report
    from tellback.paper.claims import claims_section
    from tellback.paper.theory import plan

    findings = plan.findings(found, scale)
    claims, shown = list(findings.claims), plan.reported(found, scale)
    section = claims_section(claims)
    return claims, write_report(plan.TITLE, shown, folder, [section], findings.pictures, ())


def _command(experiment: Callable[[Options], list[Part]]) -> Callable[..., None]:
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
        parts = experiment(options)
        with _beside(options) as beside:
            _simulate(parts, beside)
            claims = _played(parts, options, beside)
        _print_claims([claim for of_part in claims for claim in of_part], options)

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
    """The folder of an experiment; options that make no sense are refused before any work."""
    from tellback.errors import real
    from tellback.files import demand_writable

    real("scale", options.scale, above=0, at_most=1)
    demand_writable(options.results / name)
    return options.results / name


def _each(found: list[Any], claimed: Any) -> list[Claim]:
    """The claim held against every study that has LORIL in it."""
    from tellback.paper.claims import claim

    return [claim(one, claimed) for one in found if "LORIL" in one.study.agents]


def _beside(options: Options) -> Beside:
    from tellback.lab.engines.beside import Beside

    return Beside(inline=options.on == "inline")


def _played(parts: Sequence[Part], options: Options, beside: Beside) -> list[list[Claim]]:
    """The claims of some parts, whose runs are played together.

    Each verdict is said as soon as it is known. Reports are written beside the runs. The command
    ends if a run failed: claims are about all of them.
    """
    from tellback.lab import Store

    watched = [_Watched(part, beside) for part in parts]

    def complete(results: Results) -> list[str]:
        return [line for one in watched for line in verdicts(one.complete(results))]

    studies = [study for part in parts for studies, _ in part.judged for study in studies]
    store = Store(options.results / "runs")
    _, all_done = run_and_show(
        studies, store, options.on, options.workers, options.reuse, complete=complete
    )
    if not all_done:
        raise typer.Exit(1)
    return [one.finish() for one in watched]


class _Watched:
    """A part whose runs are being played."""

    def __init__(self, part: Part, beside: Beside) -> None:
        self._part, self._beside = part, beside
        self._found: dict[int, Results] = {}
        self._report: Future[tuple[list[Claim], list[Path]]] | None = None

    def complete(self, results: Results) -> list[Claim]:
        """The claims that are known now that a study is complete."""
        claims: list[Claim] = []
        for studies, judge in self._part.judged:
            if any(study is results.study for study in studies):
                self._found[id(results.study)] = results
                if all(id(study) in self._found for study in studies):
                    claims += judge(self._results(studies))
        if self._report is None and len(self._found) == len(self._studies):
            found = self._results(self._studies)
            self._report = self._beside.submit(self._part.report, found, self._part.folder)
        return claims

    def finish(self) -> list[Claim]:
        """Print the tables; the claims, when the report is written."""
        print_results(self._part.tables(self._results(self._studies)))
        assert self._report is not None, "every study of the part is complete"
        claims, files = self._report.result()
        print_written(files)
        return claims

    @property
    def _studies(self) -> list[Study]:
        return [study for studies, _ in self._part.judged for study in studies]

    def _results(self, studies: Sequence[Study]) -> list[Results]:
        return [self._found[id(study)] for study in studies]


def verdicts(claims: Sequence[Claim]) -> list[str]:
    """Each verdict in a line, for those who wait."""
    return [f"{one.claim}. {one.reading}: {one.measured}: {one.verdict}." for one in claims]


def _simulate(parts: Sequence[Part], beside: Beside) -> None:
    """Begin with the simulations that are not studies, and say what they find."""
    for part in parts:
        for simulation in part.simulations:
            beside.submit(simulation).add_done_callback(_say_verdicts)


def _say_verdicts(claims: Future[list[Claim]]) -> None:
    """Say verdicts that come from beside the runs; an error is raised with the report."""
    if not claims.cancelled() and claims.exception() is None:
        for line in verdicts(claims.result()):
            say(line, stderr=True)
