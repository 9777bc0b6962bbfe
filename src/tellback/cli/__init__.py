"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys
from inspect import cleandoc
from typing import Annotated

import typer

from tellback import __version__
from tellback.cli import (
    about,
    accounts,
    audit,
    backup,
    certify,
    data,
    diagnose,
    evaluate,
    export,
    league,
    paper,
    people,
    run,
    study,
    teach,
    trajectories,
)
from tellback.cli.show import console, escape

app = typer.Typer(
    help="Interactive learning from hindsight instruction feedback.\n\n"
    "An agent acts, a teacher tells back what it did, and the agent learns to follow "
    "instructions. Begin with [bold]tellback run synthetic --agent loril --agent greedy[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tellback {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


app.command("list")(about.list_)
app.command("run")(run.run)
app.add_typer(study.app, name="study")
app.command("certify")(certify.certify)
app.command("evaluate")(evaluate.evaluate)
app.command("diagnose")(diagnose.diagnose)
app.add_typer(paper.app, name="paper")
app.command("league")(league.league)
app.command("people")(people.people)
app.command("house")(trajectories.house)
app.command("babyai")(trajectories.babyai)
app.command("check")(about.check)
data.app.command("export")(export.export)
app.add_typer(data.app, name="data")
app.command("audit")(audit.audit)
app.command("teach")(teach.teach)
app.command("serve")(teach.serve)
app.add_typer(accounts.accounts_app, name="accounts")
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)


def _join_lines(some: typer.Typer) -> None:
    """Make each paragraph of a docstring one line: the terminal wraps it, once."""
    for command in some.registered_commands:
        written = cleandoc(command.help or (command.callback and command.callback.__doc__) or "")
        paragraphs = written.replace("``", "").split("\n\n")
        command.help = "\n\n".join(" ".join(part.split()) for part in paragraphs)
    for group in some.registered_groups:
        if group.typer_instance is not None:
            _join_lines(group.typer_instance)


_join_lines(app)


def main() -> None:
    """Run the command line; what the user got wrong is said in one line, without a traceback."""
    from tellback.errors import TellbackError

    try:
        app()
    except (TellbackError, OSError) as error:
        said = str(error)
        if isinstance(error, FileNotFoundError) and error.filename:
            said = f"There is no file {error.filename}."
        console(stderr=True).print(f"[bold red]tellback:[/] {escape(said)}", soft_wrap=True)
        sys.exit(2)
