"""``tellback backup`` and ``tellback restore``: a classroom in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tellback.cli.accounts import DatabaseUrl, opened_database
from tellback.cli.show import say


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist.")],
    database: DatabaseUrl = None,
) -> None:
    """Write all lessons, accounts and tokens of a classroom to one file.

    The classroom may run meanwhile: the file is as of one moment. Keep it safe, as it has all that
    teachers typed.
    """
    from tellback.classroom.store.backup import back_up

    with opened_database(database) as opened:
        count = back_up(opened, file)
    say(f"{count:,} rows are in {file}.")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that tellback backup wrote.")],
    database: DatabaseUrl = None,
) -> None:
    """Restore a backup into a new database, of SQLite or PostgreSQL.

    People sign in again; tokens are valid as they were.
    """
    from tellback.classroom.store.backup import opened_backup, restore

    # The backup first: if it cannot be read, no empty database is made.
    with opened_backup(file) as source, opened_database(database, create=True) as opened:
        count = restore(source, opened)
        where = str(opened)
    say(f"{count:,} rows are in {where}.")
