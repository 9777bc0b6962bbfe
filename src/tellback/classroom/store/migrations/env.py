"""How Alembic reaches the database: by the connection it is given."""

from alembic import context

from tellback.classroom.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes tables by making them anew
)
# The transaction is the caller's: all of a migration, or nothing.
context.run_migrations()
