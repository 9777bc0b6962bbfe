"""Accounts and their roles."""

from __future__ import annotations

import time
import unicodedata
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from tellback.classroom.store import passwords, sessions, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.names import account_name, looks
from tellback.classroom.store.secrets import new_id
from tellback.classroom.store.tables import accounts, events
from tellback.errors import UnknownNameError, unknown_name

ADMIN = "admin"
ADDING = 7_355_722_206  # any number, for PostgreSQL's advisory lock


class Account(NamedTuple):
    """An account, without its password."""

    id: str
    name: str
    role: str
    disabled: bool
    created: float


_SHOWN = [accounts.c[name] for name in Account._fields]


def add(database: Database, name: str, role: str, password: str | None) -> Account:
    """Create an account. Without a password it can only use tokens."""
    name = account_name(name)
    kept = passwords.hash_password(password) if password is not None else None
    account = Account(new_id(), name, role, False, time.time())
    with database.write() as connection:
        database.one_at_a_time(connection, ADDING)  # two that look the same must not both succeed
        for other in connection.execute(select(accounts.c.name)).scalars():
            if looks(other) & looks(name):
                raise ConflictError(
                    "name_taken", f"There is an account {other!r} already: {name!r} looks the same."
                )
        connection.execute(insert(accounts).values(**account._asdict(), password=kept))
    return account


def find(database: Database, identity: str) -> Account | None:
    """An account by its id; None if there is none."""
    return next(iter(listed(database, accounts.c.id == identity)), None)


def named(database: Database, given: str) -> Account:
    """An account by its id or its name; an error if there is none."""
    account = _called(database, given)
    if account is None:
        raise UnknownNameError(f"There is no account {given!r}.")
    return account


def _called(database: Database, given: str) -> Account | None:
    """The account with this id or name; None if there is none, an error if there are two."""
    name = looked_up(given)
    found = listed(database, (accounts.c.id == name) | (accounts.c.name == name))
    if len(found) > 1:  # new names do not look like ids, but old ones may
        raise ConflictError(
            "ambiguous",
            f"{given!r} is the id of one account and the name of another. Give the name of the "
            f"first, or the id of the second.",
        )
    return found[0] if found else None


def author(database: Database, given: str, *, for_admin: bool) -> str:
    """The author of words, by the id or the name of an account; an error if there is none.

    Authors without an account are recordings, and whoever taught while there were no accounts.
    Only an error for an admin names the accounts that there are.
    """
    account = _called(database, given)
    if account is not None:
        return account.id
    if given.isprintable():  # PostgreSQL refuses some other characters
        with database.read() as connection:
            wrote = select(events.c.seq).where(events.c.account == given).limit(1)
            if connection.execute(wrote).first() is not None:
                return given
    if for_admin:
        raise unknown_name("account", given, [one.name for one in listed(database)])
    raise UnknownNameError(f"There is no account {given!r}.")


def listed(database: Database, *conditions: ColumnElement[bool]) -> list[Account]:
    """The accounts that meet some conditions, by name."""
    query = select(*_SHOWN).where(*conditions).order_by(accounts.c.name)
    with database.read() as connection:
        return [Account(*row) for row in connection.execute(query)]


def looked_up(name: str) -> str:
    """The name under which an account is looked for, as somebody typed it."""
    # PostgreSQL refuses some characters that cannot be printed.
    return unicodedata.normalize("NFC", name) if name.isprintable() else ""


def signed_in(database: Database, name: str, password: str) -> Account | None:
    """The account of a name and a password; None if either is wrong.

    It takes equally long in all cases, so that nobody finds out which names exist.
    """
    with database.read() as connection:
        found = connection.execute(
            select(*_SHOWN, accounts.c.password).where(accounts.c.name == looked_up(name))
        ).first()
    right = passwords.verify_password(password, found.password if found else None)
    if found is None or not right or found.disabled:
        return None
    return Account(*found[:-1])


def change(
    database: Database,
    identity: str,
    *,
    role: str | None = None,
    disabled: bool | None = None,
    password: str | None = None,
) -> Account | None:
    """Change an account, in one transaction; None if there is no such account.

    A disabled account loses its sessions and tokens for good. A new password ends all sessions.
    """
    hashed = None if password is None else passwords.hash_password(password)
    given: dict[str, Any] = {"role": role, "disabled": disabled, "password": hashed}
    values = {name: value for name, value in given.items() if value is not None}
    this = accounts.c.id == identity
    with database.write() as connection:
        if disabled or (role is not None and role != ADMIN):
            _demand_another_admin(connection, identity)
        before = connection.execute(select(accounts).where(this).with_for_update()).first()
        if before is None:
            return None
        if values:
            connection.execute(update(accounts).where(this).values(**values))
        # Also when it is enabled again: a session may have been created while it was disabled.
        shut = disabled or (disabled is False and before.disabled)
        if shut or password is not None:
            sessions.end_all(connection, identity)
        if shut:
            tokens.revoke_all(connection, identity)
        return Account(*connection.execute(select(*_SHOWN).where(this)).one())


def enabled_admins(database: Database) -> int:
    """Number of enabled admins."""
    with database.read() as connection:
        return connection.execute(
            select(func.count()).select_from(accounts).where(_ENABLED_ADMIN)
        ).scalar_one()


_ENABLED_ADMIN = (accounts.c.role == ADMIN) & accounts.c.disabled.is_(False)


def _demand_another_admin(connection: Connection, identity: str) -> None:
    # The rows are locked, so that two admins who disable each other at once cannot both succeed.
    # Everybody locks them first and in the same order, so that there is no deadlock.
    rows = connection.execute(
        select(accounts.c.id).where(_ENABLED_ADMIN).order_by(accounts.c.id).with_for_update()
    )
    if set(rows.scalars()) == {identity}:
        raise ConflictError("last_admin", "This is the last account that can manage the others.")
