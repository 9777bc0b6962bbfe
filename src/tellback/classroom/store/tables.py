"""The tables.

``events`` and ``tasks`` are the source of truth of a lesson: rows are only added. ``rounds`` is a
projection of them, for quick queries and for leases. It can be rebuilt from the log, and so can
``checkpoints`` and ``progress``.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)

ID = String(40)

lessons = Table(
    "lessons",
    metadata,
    Column("id", ID, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("definition", Text, nullable=False),  # JSON
    Column("created", Float, nullable=False),
    Column("events", BigInteger, nullable=False),  # the number of the latest event
    Column("rounds", BigInteger, nullable=False),  # the number of the latest round
    Column("archived", Boolean, nullable=False, server_default=false()),
)

items = Table(  # the responses of a lesson's own material
    "items",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("features", LargeBinary, nullable=False),  # float32
    Column("content", Text, nullable=False),  # JSON: group, goal, words
    Column("picture", LargeBinary),  # a JPEG file: a picture, or a strip of frames
)

events = Table(
    "events",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(20), nullable=False),
    Column("round", BigInteger),
    Column("account", ID),
    Column("at", Float, nullable=False),
    Column("data", Text, nullable=False),  # JSON; of redacted events a tombstone
    Index(None, "lesson", "account"),
    Index(None, "lesson", "round"),
)

tasks = Table(
    "tasks",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("round", BigInteger, primary_key=True, autoincrement=False),
    Column("features", LargeBinary, nullable=False),  # g(y, s), a row a response, float64
    Column("content", Text, nullable=False),  # JSON: context, texts, number of pictures
)

pictures = Table(
    "pictures",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("round", BigInteger, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("png", LargeBinary, nullable=False),
)

rounds = Table(
    "rounds",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("status", String(12), nullable=False),
    Column("asked", BigInteger, nullable=False),  # the event
    Column("described", BigInteger),  # the event of the active description
    Column("describer", ID),
    Column("second", BigInteger),  # the event of the second description, or of its refusal
    Column("wants_second", Boolean, nullable=False),
    Column("claimed_by", ID),
    Column("claimed_until", Float),
    Column("estimate", Float),
    Column("width", Float),
    Column("highest", Float),
    Column("matched", Boolean),  # did it do what was asked? None: not known, or not counted
    Column("part", String(8)),  # of a lesson's own material: see RoundPart
    Index(None, "lesson", "status", "number"),
    Index(None, "lesson", "described"),
    Index(None, "lesson", "claimed_by"),
    Index(None, "lesson", "wants_second", "second"),
)

seen = Table(  # requests that were shown to somebody, other than by describing
    "seen",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("round", BigInteger, primary_key=True, autoincrement=False),
    Column("account", ID, primary_key=True),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("learned", BigInteger, nullable=False),  # number of descriptions taught
    Column("learned_digest", String(64), nullable=False),  # of (round, event) of each
    Column("source", String(40), nullable=False),  # digest of the code that learned
    Column("state", LargeBinary, nullable=False),
)

progress = Table(
    "progress",
    metadata,
    Column("lesson", ID, ForeignKey("lessons.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("described", BigInteger, nullable=False),
    Column("right", Integer, nullable=False),  # of the held-out requests
    Column("requests", Integer, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("holder", ID, nullable=False),
    Column("until", Float, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", ID, primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("role", String(12), nullable=False),
    Column("password", String(200)),  # hashed
    Column("disabled", Boolean, nullable=False),
    Column("created", Float, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("account", ID, ForeignKey("accounts.id"), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Index(None, "account"),
    Index(None, "expires"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("id", ID, nullable=False, unique=True),
    Column("account", ID, ForeignKey("accounts.id"), nullable=False),
    Column("name", String(80), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Boolean, nullable=False),
    Index(None, "account"),
)

login_attempts = Table(
    "login_attempts",
    metadata,
    Column("key", String(64), primary_key=True),  # digest of an address, or of a name with one
    Column("remaining", Float, nullable=False),
    Column("at", Float, nullable=False),
    Index(None, "at"),
)

answers = Table(  # of requests with an idempotency key
    "answers",
    metadata,
    Column("account", ID, primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("request", String(64), nullable=False),  # digest of the request
    Column("answer", Text, nullable=False),
    Column("at", Float, nullable=False),
    Index(None, "at"),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", ID, primary_key=True),
    Column("lesson", ID, ForeignKey("lessons.id"), nullable=False),
    Column("url", String(2000), nullable=False),
    Column("secret", String(80), nullable=False),  # signs; hence not hashed
    Column("created", Float, nullable=False),
    Index(None, "lesson"),
)

deliveries = Table(  # the outbox
    "deliveries",
    metadata,
    Column("webhook", ID, ForeignKey("webhooks.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("lesson", ID, ForeignKey("lessons.id"), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due", Float),  # None once delivered or given up
    Column("delivered", Boolean, nullable=False),
    Column("trouble", String(300)),
    Index(None, "due"),
)
