"""``tellback accounts``: who may use a classroom."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tellback.cli.show import console, escape, say

if TYPE_CHECKING:
    from tellback.classroom.store.database import Database

accounts_app = typer.Typer(
    help="Who may use a classroom: accounts, their roles and their tokens.", no_args_is_help=True
)

RoleName = Literal["teacher", "reviewer", "engineer", "admin"]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="TELLBACK_DATABASE",  # without a password in the list of processes
        help="sqlite:///path/to/file or postgresql://user@host/name.",
        show_default="a file in your data folder",
    ),
]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input.")
]
AccountName = Annotated[str, typer.Argument(metavar="NAME", help="The account's name, or its id.")]


def default_database() -> str:
    """The database if none is given: a file in the user's data folder."""
    from tellback.folders import user_data

    return f"sqlite:///{user_data() / 'classroom.db'}"


@accounts_app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="The account's name.")],
    role: Annotated[RoleName, typer.Option(help="What the account may do.")] = "teacher",
    password_stdin: PasswordStdin = False,
    database: DatabaseUrl = None,
) -> None:
    """Create an account. The password is asked for twice.

    A teacher describes; a reviewer also checks what others described; an engineer also makes
    lessons and tokens; an admin also manages the accounts.
    """
    from tellback.classroom.store import accounts

    with opened_database(database, create=True) as opened:
        made = accounts.add(opened, name, role, _password(password_stdin))
    say(f"{made.name} can sign in as {made.role}.")


@accounts_app.command("list")
def list_(database: DatabaseUrl = None) -> None:
    """List the accounts."""
    from datetime import UTC, datetime

    from rich.table import Table

    from tellback.classroom.store import accounts

    with opened_database(database) as opened:
        found = accounts.listed(opened)
    table = Table("name", "role", "made", "id", "")
    for account in found:
        made = datetime.fromtimestamp(account.created, UTC).strftime("%Y-%m-%d")
        shut = "disabled" if account.disabled else ""
        table.add_row(escape(account.name), account.role, made, account.id, shut)
    console().print(table)


@accounts_app.command("role")
def role(
    name: AccountName,
    role: Annotated[RoleName, typer.Argument(help="What it may do from now on.")],
    database: DatabaseUrl = None,
) -> None:
    """Change what an account may do."""
    _change(database, name, f"is {role} now.", role=role)


@accounts_app.command("password")
def password(
    name: AccountName, password_stdin: PasswordStdin = False, database: DatabaseUrl = None
) -> None:
    """Give an account a new password; it is signed out everywhere."""
    from tellback.classroom.store import accounts

    with opened_database(database) as opened:
        account = accounts.named(opened, name)  # asked for only if there is such an account
        accounts.change(opened, account.id, password=_password(password_stdin))
    say(f"{account.name} has a new password.")


@accounts_app.command("disable")
def disable(name: AccountName, database: DatabaseUrl = None) -> None:
    """Disable an account: it is signed out everywhere, and its tokens are revoked."""
    _change(database, name, "is disabled.", disabled=True)


@accounts_app.command("enable")
def enable(name: AccountName, database: DatabaseUrl = None) -> None:
    """Enable an account again; its tokens stay revoked."""
    _change(database, name, "can sign in again.", disabled=False)


@accounts_app.command("token")
def token(
    name: AccountName,
    purpose: Annotated[str, typer.Option("--for", help="What it is for.")] = "command line",
    days: Annotated[
        int | None,
        typer.Option(help="In how many days it expires.", show_default="never", min=1, max=3650),
    ] = None,
    database: DatabaseUrl = None,
) -> None:
    """Create a token, with which a program acts as the account, and print it this once."""
    from tellback.classroom.store import accounts, tokens
    from tellback.errors import TellbackError

    with opened_database(database) as opened:
        account = accounts.named(opened, name)
        if account.disabled:
            raise TellbackError(f"The account {name!r} is disabled.")
        lasts = days * 24 * 3600.0 if days is not None else None
        _, secret = tokens.make(opened, account.id, purpose, lasts)
    print(secret)  # alone on its line, so that a script can keep it


@contextmanager
def opened_database(url: str | None, *, create: bool = False) -> Iterator[Database]:
    """The database at a URL, or the one in the user's data folder."""
    from tellback.classroom.store.database import open_database

    opened = open_database(url or default_database(), create=create)
    try:
        yield opened
    finally:
        opened.close()


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return asked


def _change(database: str | None, name: str, done: str, **changes: Any) -> None:
    """Change an account, and say what it is now."""
    from tellback.classroom.store import accounts

    with opened_database(database) as opened:
        account = accounts.named(opened, name)
        accounts.change(opened, account.id, **changes)
    say(f"{account.name} {done}")
