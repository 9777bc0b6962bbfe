"""Migration of a database to the tables of this version.

A new database gets the tables of ``store/tables.py`` and the newest version. So migrations are only
the changes since the first version, and no table is written down twice.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from tellback.classroom.store.database import Database
from tellback.classroom.store.tables import metadata
from tellback.errors import TellbackError, UnknownNameError

MIGRATIONS = Path(__file__).parent / "migrations"
ONE_AT_A_TIME = 7_355_722_205  # any number, for PostgreSQL's advisory lock


def migrate(database: Database, create: bool = True) -> None:
    """Migrate the tables, or create them; one process at a time."""
    script = ScriptDirectory(str(MIGRATIONS))
    newest = script.get_current_head()
    with database.read() as connection:
        if _version(connection) == newest:
            return
    with database.write() as connection:
        database.one_at_a_time(connection, ONE_AT_A_TIME)
        version = _version(connection)
        if version is None:
            if not create:
                raise UnknownNameError(f"There is no classroom in the database {database}.")
            metadata.create_all(connection, checkfirst=False)
            MigrationContext.configure(connection).stamp(script, "head")
            return
        if version not in {one.revision for one in script.walk_revisions()}:
            raise TellbackError(
                f"The database {database} was made by a newer tellback (its tables are of version "
                f"{version}, and this knows up to {newest})."
            )
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _version(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()
