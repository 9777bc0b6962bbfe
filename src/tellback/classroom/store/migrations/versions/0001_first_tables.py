"""The first tables: those of ``store/tables.py``, before anything was migrated."""

revision = "0001"
down_revision = None
