"""Who has seen a request; and verdicts on sentences by words alone, which were often wrong, go."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the table ``seen``. Verdicts on sentences become unknown, unless they are by equality."""
    op.create_table(
        "seen",
        sa.Column("lesson", sa.String(40), nullable=False),
        sa.Column("round", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("account", sa.String(40), nullable=False),
        sa.ForeignKeyConstraint(["lesson"], ["lessons.id"], name="fk_seen_lesson"),
        sa.PrimaryKeyConstraint("lesson", "round", "account", name="pk_seen"),
    )
    connection = op.get_bind()
    for lesson, definition in connection.execute(
        sa.text("SELECT id, definition FROM lessons")
    ).all():
        if (json.loads(definition).get("match") or {}).get("kind") == "same":
            continue
        which = {"lesson": lesson}
        unknown = sa.text("UPDATE rounds SET matched = NULL WHERE lesson = :lesson")
        connection.execute(unknown, which)
        words = sa.text(
            "SELECT seq, data FROM events "
            "WHERE lesson = :lesson AND kind IN ('described', 'second')"
        )
        changed = [
            which | {"seq": seq, "data": json.dumps(json.loads(data) | _unknown(json.loads(data)))}
            for seq, data in connection.execute(words, which).all()
        ]
        if changed:
            connection.execute(
                sa.text("UPDATE events SET data = :data WHERE lesson = :lesson AND seq = :seq"),
                changed,
            )


def _unknown(data: dict[str, object]) -> dict[str, object]:
    return dict.fromkeys({"matched", "agrees"} & data.keys())
