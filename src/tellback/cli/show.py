"""How commands show what they do and what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer

if TYPE_CHECKING:
    from tellback.lab import Failure, Listener, Results, Store, Study
    from tellback.lab.engines import Engine
    from tellback.lab.report import Section
    from tellback.paper.claims import Claim

Done = TypeVar("Done")


def console(stderr: bool = False) -> Any:
    """Where to print."""
    from rich.console import Console

    return Console(stderr=stderr)


def say(text: object, stderr: bool = False) -> None:
    """Print a sentence as it is: no markup, no colours, wrapped by the terminal."""
    console(stderr).print(str(text), markup=False, highlight=False, soft_wrap=True)


def escape(text: str) -> str:
    """Text in which brackets are only brackets."""
    from rich.markup import escape as escaped

    return escaped(text)


def run_and_show(
    studies: Sequence[Study],
    store: Store,
    on: str,
    workers: int | None,
    reuse: bool = False,
    isolated: bool = False,
    complete: Callable[[Results], Sequence[str]] = lambda results: (),
) -> tuple[list[Results], bool]:
    """Run studies, showing progress in rounds.

    ``complete`` says something of each study as soon as its runs are done.

    Returns the results of the studies that are complete, and whether all are: if a run failed, the
    command shall end with 1.
    """
    from tellback.lab import run_studies

    def work(engine: Engine, listener: Listener) -> list[Results]:
        return run_studies(studies, store, on=engine, listener=listener, reuse=reuse)

    return work_and_show(work, store, on, workers, isolated, complete)


def work_and_show(
    work: Callable[[Engine, Listener], list[Done]],
    store: Store,
    on: str,
    workers: int | None,
    isolated: bool = False,
    complete: Callable[[Results], Sequence[str]] = lambda results: (),
) -> tuple[list[Done], bool]:
    """Do work that plays runs, showing progress in rounds.

    Returns what is complete, and whether all is. Ctrl-C ends the command.
    """
    from tellback.lab import RunsFailedError
    from tellback.lab.engines import engine_named
    from tellback.lab.listener import ProgressListener

    out = console(stderr=True)
    engine = engine_named(on, workers, isolated)
    with progress(out) as show:

        class Shown(ProgressListener):
            told = False

            def found(self, runs: int, of: int) -> None:
                if runs and not self.told:
                    out.print(f"Runs done before, in {store.folder}: {runs:,} of {of:,}.")
                self.told = True

            def complete(self, results: Results) -> None:
                for line in complete(results):
                    self.note(line)

        listener = Shown(show, partial(out.print, markup=False, soft_wrap=True))
        try:
            return work(engine, listener), True
        except KeyboardInterrupt:
            out.print("Stopped. What is finished is kept; the same command goes on from there.")
            raise typer.Exit(130) from None
        except RunsFailedError as error:
            _print_failures(error.failures, out)
            out.print(f"{error} Above is what went wrong; the others are done.", markup=False)
            return cast("list[Done]", error.complete), False


def _print_failures(failures: Sequence[Failure], out: Any) -> None:
    """Each kind of failure once, with the runs that ended so."""
    runs_by_end: dict[str, list[Failure]] = {}
    for failure in failures:
        runs_by_end.setdefault(failure.traceback, []).append(failure)
    for traceback, alike in runs_by_end.items():
        first = alike[0].run
        more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
        out.rule(escape(f"{first.brief()}{more}"))
        out.print(traceback, markup=False, highlight=False)


@contextmanager
def progress(out: Any) -> Iterator[Callable[[str, int, int], None]]:
    """Shows how much of what is done: live bars in a terminal, in a log a line for every tenth."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    if out.is_terminal:
        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=out) as bars:
            tasks: dict[str, Any] = {}

            def draw(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total)
                bars.update(tasks[what], completed=done, total=total)

            yield draw
        return
    tenths: dict[str, int] = {}

    def note(what: str, done: int, total: int) -> None:
        if total and done * 10 // total > tenths.get(what, 0):
            out.print(f"{what}: {done:,} of {total:,}")
        tenths[what] = done * 10 // max(1, total)

    yield note


@contextmanager
def counted_rounds(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows how many rounds are played; told of more rounds now and then."""
    done = 0
    with progress(console(stderr=True)) as show:

        def played(rounds: int) -> None:
            nonlocal done
            done += rounds
            show(what, done, total)

        yield played


def print_results(found: Sequence[Results]) -> None:
    """The regret of every agent, and every two of them compared."""
    from rich.table import Table

    out = console()
    for results in found:
        n = len(results.study.reported)
        table = Table("agent", "setting", "final regret [95% interval]")
        table.title = escape(f"{results.study.name}: {results.study.rounds:,} rounds, n = {n}")
        for name in results.study.agents:
            setting = results.tuned(name).label()
            table.add_row(escape(name), escape(setting), escape(results.stated(name)))
        out.print(table)
        print_warnings([results])
        for pair in results.pairs():
            say(f"  {pair.sentence}")
        out.print()


def print_warnings(found: Sequence[Results]) -> None:
    """What a reader of some results should know before anything else."""
    for results in found:
        for text in results.warnings():
            say(f"{results.study.name}: {text}", stderr=True)


def print_bounds(results: Results, stderr: bool = False) -> None:
    """Theorem 2 beside the regret of every agent."""
    from tellback.lab.bounds import regret_bounds, said_of

    for agent in results.study.agents:
        spec = results.tuned(agent)
        regret = float(results.final(spec).mean())
        for name, bound in regret_bounds(results.study.world.facts, spec).items():
            say(said_of(f"{agent}, {name}", bound, results.study.rounds, regret, spec), stderr)


VERDICT_COLOURS = {"holds": "green", "does not hold": "red"}


def print_claims(claims: Sequence[Claim]) -> None:
    """What the paper claims, and below each claim how it was read, what came out, the verdict."""
    from rich.table import Table

    out, before = console(), None
    for one in claims:
        if one.claim != before:
            figure = f" [dim]({escape(one.figure)})[/]" if one.figure not in ("", "none") else ""
            out.print(f"[bold]{escape(one.claim)}[/]{figure}", highlight=False)
            before, figure_before = one.claim, one.figure
        colour = VERDICT_COLOURS.get(one.verdict, "yellow")
        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(width=1)
        for ratio in (10, 10, 4):
            row.add_column(ratio=ratio)
        other = f" ({one.figure})" if one.figure and one.figure != figure_before else ""
        row.add_row(
            "",
            escape(one.reading + other),
            escape(one.measured),
            f"[{colour}]{escape(one.verdict)}[/]",
        )
        out.print(row, highlight=False)


def print_section(section: Section) -> None:
    """A table of words."""
    from rich.table import Table

    table = Table(*section.headers, title=section.title, show_lines=True)
    for row in section.rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    console().print(table)


def print_written(files: Sequence[Path], most: int = 4, stderr: bool = False) -> None:
    """Which files there are now."""
    shown = ", ".join(map(str, files[:most]))
    more = f" and {len(files) - most} more" if len(files) > most else ""
    say(f"Written: {shown}{more}", stderr)
