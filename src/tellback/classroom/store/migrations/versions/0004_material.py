"""Lessons with material of their own, held-out descriptions, and lessons in the archive."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the table of items, the part of a round, and the mark of the archive."""
    op.create_table(
        "items",
        sa.Column("lesson", sa.String(40), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("features", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("picture", sa.LargeBinary()),
        sa.ForeignKeyConstraint(["lesson"], ["lessons.id"], name="fk_items_lesson"),
        sa.PrimaryKeyConstraint("lesson", "number", name="pk_items"),
    )
    op.add_column("rounds", sa.Column("part", sa.String(8)))
    op.add_column(
        "lessons",
        sa.Column("archived", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
