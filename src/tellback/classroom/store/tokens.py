"""Tokens, with which programs act as an account."""

from __future__ import annotations

import time
from typing import NamedTuple

from sqlalchemy import Connection, insert, or_, select, update

from tellback.classroom.store.database import Database
from tellback.classroom.store.names import validated_name
from tellback.classroom.store.secrets import TOKEN, digest, new_id, new_secret
from tellback.classroom.store.sessions import Holder, select_holder
from tellback.classroom.store.tables import tokens


class Token(NamedTuple):
    """A token, without its secret: only its digest is stored."""

    id: str
    account: str
    name: str
    created: float
    expires: float | None
    revoked: bool


_SHOWN = [tokens.c[name] for name in Token._fields]


def make(
    database: Database, account: str, name: str, lasts: float | None = None
) -> tuple[Token, str]:
    """Create a token of an account. Returns also its secret, which cannot be shown again.

    ``name`` says what it is for. It expires after ``lasts`` seconds, if that is given.
    """
    secret, now = new_secret(TOKEN), time.time()
    expires = now + lasts if lasts is not None else None
    token = Token(new_id(), account, validated_name(name), now, expires, False)
    with database.write() as connection:
        connection.execute(insert(tokens).values(**token._asdict(), digest=digest(secret)))
    return token, secret


def find(database: Database, secret: str) -> Holder | None:
    """The account of a token; None if it expired or was revoked, or the account is disabled."""
    with database.read() as connection:
        row = connection.execute(
            select_holder(tokens).where(
                tokens.c.digest == digest(secret),
                tokens.c.revoked.is_(False),
                or_(tokens.c.expires.is_(None), tokens.c.expires > time.time()),
            )
        ).first()
    return Holder(*row[:-1]) if row else None


def listed(database: Database, account: str | None = None) -> list[Token]:
    """The tokens of an account, or of all accounts."""
    found = select(*_SHOWN).order_by(tokens.c.created, tokens.c.id)
    if account is not None:
        found = found.where(tokens.c.account == account)
    with database.read() as connection:
        return [Token(*row) for row in connection.execute(found)]


def revoke(database: Database, identity: str, account: str | None = None) -> Token | None:
    """Revoke a token (of this account, if one is given); None if there is no such token."""
    which = tokens.c.id == identity
    if account is not None:
        which &= tokens.c.account == account
    with database.write() as connection:
        connection.execute(update(tokens).where(which).values(revoked=True))
        row = connection.execute(select(*_SHOWN).where(which)).first()
    return Token(*row) if row else None


def revoke_all(connection: Connection, account: str) -> None:
    """Revoke all tokens of an account."""
    connection.execute(update(tokens).where(tokens.c.account == account).values(revoked=True))
