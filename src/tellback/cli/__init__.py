"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys

import typer

from tellback.cli import (
    about,
    accounts,
    certify,
    diagnose,
    evaluate,
    league,
    paper,
    run,
    study,
    teach,
)
from tellback.cli.show import console, escape

app = typer.Typer(
    help="Interactive learning from hindsight instruction feedback.\n\n"
    "An agent acts, a teacher tells back what it did, and the agent learns to follow "
    "instructions. Begin with [bold]tellback run synthetic --agent loril --agent greedy[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("list")(about.list_)
app.command("run")(run.run)
app.add_typer(study.app, name="study")
app.command("certify")(certify.certify)
app.command("evaluate")(evaluate.evaluate)
app.command("diagnose")(diagnose.diagnose)
app.add_typer(paper.app, name="paper")
app.command("league")(league.league)
app.command("check")(about.check)
app.command("teach")(teach.teach)
app.command("serve")(teach.serve)
app.add_typer(accounts.accounts_app, name="accounts")


def main() -> None:
    """Run the command line; what the user got wrong is said in one line, without a traceback."""
    from tellback.errors import TellbackError

    try:
        app()
    except (TellbackError, OSError) as error:
        console(stderr=True).print(f"[bold red]tellback:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(2)
