"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Interactive learning from hindsight instruction feedback.\n\n"
    "An agent acts, a teacher tells back what it did, and the agent learns to follow "
    "instructions. Begin with [bold]tellback run synthetic --agent loril --agent greedy[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
paper = typer.Typer(
    help="Reproduce the paper's experiments and hold its claims against the result.",
    no_args_is_help=True,
)
app.add_typer(paper, name="paper")

ResultsFolder = Annotated[
    Path, typer.Option("--results", help="Where results are kept and looked for.")
]
Workers = Annotated[
    int | None, typer.Option(help="How many processes to use.", show_default="one a core", min=1)
]
Scale = Annotated[
    float, typer.Option(help="Below 1: shorter runs and fewer seeds, for a quick trial.")
]


def main() -> None:
    """Run the command line; what the user got wrong is said in one line, without a traceback."""
    from tellback.errors import TellbackError

    try:
        app()
    except (TellbackError, OSError) as error:
        _console(stderr=True).print(f"[bold red]tellback:[/] {_escape(str(error))}", soft_wrap=True)
        sys.exit(2)


@app.command("list")
def list_() -> None:
    """List the worlds, agents, models and encoders there are, with their settings."""
    from rich.table import Table

    from tellback.agents import AgentSpec
    from tellback.encoders import EncoderSpec
    from tellback.models import ModelSpec
    from tellback.specs import known_kinds
    from tellback.worlds import WorldSpec

    table = Table("role", "name", "settings and their defaults", "what it is")
    for base in (WorldSpec, AgentSpec, ModelSpec, EncoderSpec):
        for kind, spec in known_kinds(base).items():
            defaults = spec()
            values = {name: getattr(defaults, name) for name in spec.settings()}
            settings = ", ".join(f"{name}={_shown(value)}" for name, value in values.items())
            what = (spec.__doc__ or "").strip().split("\n")[0]
            table.add_row(base.role, kind, settings, what)
        table.add_section()
    _console().print(table)


@app.command()
def run(
    world: Annotated[str, typer.Argument(help="The world to play in; see 'tellback list'.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            "-a",
            help="An agent, or module:name for a spec of your own; may be given repeatedly.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds in each run.")] = 10_000,
    seeds: Annotated[int, typer.Option(help="How many runs of each agent, on seeds 0, 1, ...")] = 5,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting as name=value, for whatever has one of that name; or loril.k=0.1, "
            "synthetic.rank=5, sentence.hidden=32, encoder=thumbnail. May be given repeatedly.",
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Also draw the regret curves, as PNG and SVG.")
    ] = None,
    results: ResultsFolder = Path("results"),
    workers: Workers = None,
) -> None:
    """Play agents in a world and compare their regret.

    Agents with the same seed meet the same tasks. Runs that are in the results folder
    already are not computed again.

    Example: tellback run synthetic --agent loril --agent greedy --set k=0.1 --seeds 5
    """
    from tellback.errors import whole
    from tellback.files import demand_writable
    from tellback.lab import Store, Study
    from tellback.lab.settings import specs_with_settings

    whole("rounds", rounds)
    whole("seeds", seeds)
    spec, agents = specs_with_settings(world, agent or ["loril", "greedy"], settings or [])
    study = Study(world, spec, {a.label(): (a,) for a in agents}, rounds, (), tuple(range(seeds)))
    store = Store(results / "runs")
    if figure is not None:
        demand_writable(figure.parent)
    (found,) = _execute([study], store, workers)

    title = f"{spec.label()}: {rounds:,} rounds, n = {seeds} seeds"
    _console().print(_paired_table(found, agents[0].label(), title))
    if figure is not None:
        _draw_run(found, title, figure)


@paper.command()
def synthetic(
    results: ResultsFolder = Path("results"),
    workers: Workers = None,
    scale: Scale = 1.0,
) -> None:
    """The first experiment: LORIL against greedy, epsilon-greedy and random.

    Both tie rules, both readings of the sizes, the paper's grids. Ctrl-C keeps what is
    finished; a second call goes on from there.
    """
    from tellback.paper import synthetic as experiment

    store, folder = _places(results, "synthetic", scale)
    found = _execute(experiment.studies(scale), store, workers)
    _print_claims(found, experiment.CLAIMED)
    _print_written(_write_curves(found, found, experiment.TITLE, folder))


@paper.command()
def images(
    results: ResultsFolder = Path("results"),
    workers: Workers = None,
    scale: Scale = 1.0,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Also pictures that vary, the other reading of the features, and what helps "
            "more than exploring: about three quarters of an hour on two cores.",
        ),
    ] = False,
) -> None:
    """The second experiment: pictures to choose from, asked for in words.

    Trains the paper's autoencoder once, then plays LORIL, greedy, epsilon-greedy and random
    with a GRU that learns from descriptions, on the paper's grids. Needs the vision extra.
    Ctrl-C keeps what is finished; a second call goes on from there.
    """
    from tellback.paper import images as experiment
    from tellback.paper import sheets

    store, folder = _places(results, "images", scale)
    studies = experiment.studies(scale, full)
    others = [experiment.what_helps(scale)] if full else []
    found = _execute([*studies, *others], store, workers)
    compared, helping = found[: len(studies)], found[len(studies) :]
    _print_claims(compared, experiment.CLAIMED)
    for one in helping:
        _console().print(_paired_table(one, experiment.BASE))
    files = _write_curves(found, compared, experiment.TITLE, folder)
    worlds = list(experiment.worlds(scale, full).values())
    _print_written([*files, *sheets.draw(found[0], worlds, folder)])


@app.command()
def check(
    thing: Annotated[str, typer.Argument(metavar="MODULE:NAME", help="For instance mine:MyAgent.")],
) -> None:
    """Try your own agent, world or model against the promises of the protocol.

    NAME is a spec, a live object, or a class or function that makes one without arguments.
    """
    from tellback.conformance import check as try_out
    from tellback.conformance.imported import imported

    report = try_out(imported(thing))
    _console().print(str(report), markup=False, highlight=False)
    if not report:
        raise typer.Exit(1)


def _shown(value: Any) -> str:
    """A setting's value, as short as can be."""
    from tellback.specs import Spec

    if isinstance(value, Spec):
        return value.kind
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def _margin(ours: Any, theirs: Any) -> str:
    """By how much regret is lower, where that can be said."""
    from tellback.lab import less_regret

    if len(ours) < 2:
        return "one run: no interval"
    return str(less_regret(ours, theirs)) if theirs.mean() > 0 else "no regret to compare with"


def _paired_table(found: Any, first: str, title: str | None = None) -> Any:
    """Every agent of a study that has one setting each, beside the first."""
    from rich.table import Table

    from tellback.lab import mean_regret

    table = Table("agent", "final regret [95% interval]", f"less regret than {first}")
    table.title = title or f"{found.study.name}: n = {len(found.study.reported)} seeds"
    base = found.final(found.study.agents[first][0])
    for name, (agent,) in found.study.agents.items():
        final = found.final(agent)
        several = len(final) > 1
        mean = str(mean_regret(final)) if several else f"{final[0]:.4g} (one run: no interval)"
        table.add_row(name, mean, "" if name == first else _margin(final, base))
    return table


def _places(results: Path, name: str, scale: float) -> tuple[Any, Path]:
    """The store of runs and the folder of an experiment, before any work starts."""
    from tellback.errors import real
    from tellback.files import demand_writable
    from tellback.lab import Store

    real("scale", scale, above=0, at_most=1)
    demand_writable(results / name)
    return Store(results / "runs"), results / name


def _execute(studies: list[Any], store: Any, workers: int | None = None) -> list[Any]:
    """Run studies, showing progress in rounds; end with 1 if a run failed."""
    from tellback.lab import RunsFailedError, conduct

    console = _console(stderr=True)
    planned = {run for study in studies for run in study.planned()}  # some are in two studies
    rounds = sum(run.rounds for run in planned)
    done = 0
    try:
        with _progress(console) as show:

            def count(some: int) -> None:
                nonlocal done
                done += some
                show(f"{len(planned):,} runs, rounds", done, rounds)

            return conduct(studies, store, workers=workers, progress=count, preparing=show)
    except KeyboardInterrupt:
        console.print("Stopped. What is finished is kept; the same command goes on from there.")
        raise typer.Exit(130) from None
    except RunsFailedError as error:
        console.print(error.failures[0].traceback, markup=False)
        console.print(f"{error} Above is what went wrong there.", markup=False)
        raise typer.Exit(1) from None


def _write_curves(found: list[Any], drawn: list[Any], title: str, folder: Path) -> list[Path]:
    """Write all curves to one table and draw those that are compared."""
    from tellback.lab.report import write_report
    from tellback.paper.panels import panel

    return write_report(found, [panel(one) for one in drawn], title, folder)


@contextmanager
def _progress(console: Any) -> Iterator[Callable[[str, int, int], None]]:
    """Shows how much of what is done: live bars in a terminal, in a log a line for every tenth."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    if console.is_terminal:
        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as bars:
            tasks: dict[str, Any] = {}

            def draw(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total)
                bars.update(tasks[what], completed=done)

            yield draw
        return
    tenths: dict[str, int] = {}

    def note(what: str, done: int, total: int) -> None:
        if done * 10 // total > tenths.get(what, 0):
            console.print(f"{what}: {done:,} of {total:,}")
        tenths[what] = done * 10 // total

    yield note


def _regret_table(found: list[Any]) -> Any:
    from rich.table import Table

    from tellback.lab import mean_regret

    table = Table("agent", "setting, tuned on other seeds", "final regret [95% interval]", "n")
    for results in found:
        table.add_row(f"[bold]{_escape(results.study.name)}[/]")
        for name in results.study.agents:
            agent = results.tuned(name)
            mean = mean_regret(results.final(agent))
            table.add_row(name, agent.label(), str(mean), str(mean.n))
        table.add_section()
    return table


def _print_claims(found: list[Any], claimed: Any) -> None:
    """The regret of every agent, and the paper's claim beside what was measured."""
    from rich.table import Table

    from tellback.paper.claims import claim

    console = _console()
    console.print(_regret_table(found))
    claims = [claim(one, claimed) for one in found]
    table = Table(title=f"The paper: {claims[0].claim}", show_lines=True)
    table.add_column("reading")
    table.add_column("measured: LORIL's margin, tuned on other seeds")
    table.add_column("verdict")
    table.add_column("settings chosen on the seeds they are judged by, as in the paper")
    for one in claims:
        table.add_row(one.setting, one.measured, one.verdict, one.paper_way)
    console.print(table)


def _print_written(files: list[Path]) -> None:
    _console().print("Written: " + ", ".join(map(str, files)), soft_wrap=True)


def _draw_run(found: Any, title: str, figure: Path) -> None:
    from tellback.lab.plots import Line, Panel, draw_regret

    if len(found.study.reported) < 2:
        _console().print("A figure with bands needs at least two seeds: none was drawn.")
        return
    names = {"uniform": "random", "loril": "LORIL"}
    lines = [
        Line(names.get(a.kind, a.kind), label, found.t, found.curves(a))
        for label, (a,) in found.study.agents.items()
    ]
    _print_written(draw_regret([Panel("", lines)], title, figure))


def _console(stderr: bool = False) -> Any:
    from rich.console import Console

    return Console(stderr=stderr)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)
