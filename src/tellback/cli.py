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
    """List the worlds, agents and models there are, with their settings."""
    from rich.table import Table

    from tellback.agents import AgentSpec
    from tellback.models import ModelSpec
    from tellback.specs import known_kinds
    from tellback.worlds import WorldSpec

    table = Table("role", "name", "settings and their defaults", "what it is")
    for base in (WorldSpec, AgentSpec, ModelSpec):
        for kind, spec in known_kinds(base).items():
            defaults = spec()
            settings = ", ".join(f"{name}={getattr(defaults, name)}" for name in spec.settings())
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
            help="A setting as name=value, for whatever has one of that name; "
            "or loril.k=0.1, synthetic.rank=5 for one of them. May be given repeatedly.",
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
    from rich.table import Table

    from tellback.errors import whole
    from tellback.files import demand_writable
    from tellback.lab import Results, Store, Study, mean_regret
    from tellback.lab.settings import specs_with_settings

    whole("rounds", rounds)
    whole("seeds", seeds)
    spec, agents = specs_with_settings(world, agent or ["loril", "greedy"], settings or [])
    study = Study(world, spec, {a.label(): (a,) for a in agents}, rounds, (), tuple(range(seeds)))
    store = Store(results / "runs")
    if figure is not None:
        demand_writable(figure.parent)
    _execute([study], store, workers)
    found = Results(study, store)

    title = f"{spec.label()}: {rounds:,} rounds, n = {seeds} seeds"
    first = agents[0].label()
    table = Table("agent", "final regret [95% interval]", f"less regret than {first}", title=title)
    for one in agents:
        final = found.final(one)
        mean = str(mean_regret(final)) if seeds > 1 else f"{final[0]:.4g} (one run: no interval)"
        paired = "" if one is agents[0] else _margin(final, found.final(agents[0]))
        table.add_row(one.label(), mean, paired)
    _console().print(table)
    if figure is not None:
        _draw_run(found, title, figure)


@paper.command()
def synthetic(
    results: ResultsFolder = Path("results"),
    workers: Workers = None,
    scale: Annotated[
        float, typer.Option(help="Below 1: shorter runs and fewer seeds, for a quick trial.")
    ] = 1.0,
) -> None:
    """The first experiment: LORIL against greedy, epsilon-greedy and random.

    Both tie rules, both readings of the sizes, the paper's grids. Ctrl-C keeps what is
    finished; a second call goes on from there.
    """
    from rich.table import Table

    from tellback.errors import real
    from tellback.files import demand_writable
    from tellback.lab import Results, Store
    from tellback.lab.report import write_report
    from tellback.paper import synthetic as experiment

    real("scale", scale, above=0, at_most=1)
    studies = experiment.studies(scale)
    store, folder = Store(results / "runs"), results / "synthetic"
    demand_writable(folder)
    _execute(studies, store, workers)
    found = [Results(study, store) for study in studies]
    panels = [experiment.panel(one) for one in found]
    files = write_report(found, panels, experiment.TITLE, folder)

    console = _console()
    console.print(_regret_table(found))
    claims = [experiment.claim(one) for one in found]
    table = Table(title=f"The paper: {claims[0].claim}", show_lines=True)
    table.add_column("reading")
    table.add_column("measured: LORIL's margin, tuned on other seeds")
    table.add_column("verdict")
    table.add_column("tuned on the reported seeds, as in the paper")
    for claim in claims:
        table.add_row(claim.setting, claim.measured, claim.verdict, claim.paper_way)
    console.print(table)
    console.print("Written: " + ", ".join(map(str, files)), soft_wrap=True)


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


def _margin(ours: Any, theirs: Any) -> str:
    """By how much regret is lower, where that can be said."""
    from tellback.lab import less_regret

    if len(ours) < 2:
        return "one run: no interval"
    return str(less_regret(ours, theirs)) if theirs.mean() > 0 else "no regret to compare with"


def _execute(studies: list[Any], store: Any, workers: int | None = None) -> None:
    """Run studies, showing progress in rounds; end with 1 if a run failed."""
    from tellback.lab import execute

    runs = list(dict.fromkeys(run for study in studies for run in study.runs()))
    console = _console(stderr=True)
    try:
        with _progress(console, len(runs), sum(run.rounds for run in runs)) as progress:
            failures = execute(runs, store, workers=workers, progress=progress)
    except KeyboardInterrupt:
        console.print("Stopped. What is finished is kept; the same command goes on from there.")
        raise typer.Exit(130) from None
    if failures:
        console.print(failures[0].traceback, markup=False)
        names = f"{failures[0].run.agent.label()} on seed {failures[0].run.seed}"
        console.print(f"{len(failures)} of {len(runs)} runs failed; above, {names}.")
        raise typer.Exit(1)


@contextmanager
def _progress(console: Any, runs: int, total: int) -> Iterator[Callable[[int], None]]:
    """A live bar in a terminal; elsewhere, as in a log file, a line for every tenth."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    if console.is_terminal:
        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(f"{runs:,} runs, rounds", total=total)
            yield lambda rounds: bar.advance(task, rounds)
        return
    done = 0

    def note(rounds: int) -> None:
        nonlocal done
        before, done = done, done + rounds
        if done * 10 // total > before * 10 // total:
            console.print(f"{runs:,} runs: {done:,} of {total:,} rounds done")

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
    files = draw_regret([Panel("", lines)], title, figure)
    _console().print("Written: " + ", ".join(map(str, files)), soft_wrap=True)


def _console(stderr: bool = False) -> Any:
    from rich.console import Console

    return Console(stderr=stderr)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)
