"""Accounts, sessions and tokens in the database."""

from __future__ import annotations

import re
import threading

import pytest
from sqlalchemy import text, update

from tellback.classroom.learning import own_lessons, recorded
from tellback.classroom.store import accounts, sessions, tables, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.names import WITHOUT_ACCOUNTS
from tellback.classroom.store.secrets import ID_PATTERN, new_id
from tellback.classroom.web.security.callers import ON_OWN_MACHINE, Role
from tellback.errors import FieldError, UnknownNameError
from tests.support.accounts_app import (
    PASSWORD,
    add,
    quick_passwords,  # noqa: F401
)


@pytest.mark.parametrize("name", ["", " ada", "a\nb", "a\x00", "x" * 81, "\u202eada", "\ud800"])
def test_names_that_cannot_be_read_are_refused(database: Database, name: str) -> None:
    with pytest.raises(FieldError, match="printable"):
        accounts.add(database, name, Role.TEACHER, PASSWORD)


def test_two_accounts_cannot_have_one_name(database: Database) -> None:
    add(database, "caf\u00e9")
    with pytest.raises(ConflictError, match="already"):
        add(database, "cafe\u0301")


@pytest.mark.parametrize(
    "alike",
    [
        "ADAI",  # case
        "\uff21da\uff29",  # full width
        "\u0410da\u0406",  # Cyrillic
        "Adal",  # another letter that looks the same
        "Ada1",
        "Ad\u0251I",  # the alpha of phonetics
    ],
)
def test_a_name_that_looks_like_another_is_refused(database: Database, alike: str) -> None:
    add(database, "AdaI")
    add(database, "AdaE")
    with pytest.raises(ConflictError, match="'AdaI' already"):
        add(database, alike)


@pytest.mark.parametrize(
    ("name", "alike"),
    [("bob", "b0b"), ("zo0", "zoo"), ("B0b I", "bob l"), ("Otto", "0tt\u03bf"), ("ll0", "I1o")],
)
def test_zero_looks_like_o_and_one_like_l_and_capital_i(
    database: Database, name: str, alike: str
) -> None:
    add(database, name)
    with pytest.raises(ConflictError, match="looks the same"):
        add(database, alike)


@pytest.mark.parametrize(
    "name",
    ["a\u200bda", "ada\u200d", "ada\ufe0f", "\u00adada", "a\u2063da", "a  b", "\U0001f600"],
)
def test_names_with_invisible_characters_or_symbols_are_refused(
    database: Database, name: str
) -> None:
    with pytest.raises(FieldError, match=r"(words|around them)\.$"):
        add(database, name)


@pytest.mark.parametrize("name", ["0" * 20, "0123456789abcdef0123", "0123456789ABCDEF0123"])
def test_a_name_that_looks_like_an_id_is_refused(database: Database, name: str) -> None:
    assert re.search(ID_PATTERN, new_id())
    with pytest.raises(FieldError, match="look like the id"):
        add(database, name)


def test_no_account_is_called_as_an_author_without_one(database: Database) -> None:
    authors = {recorded.ACCOUNT, own_lessons.ACCOUNT, ON_OWN_MACHINE.account}
    assert authors == set(WITHOUT_ACCOUNTS)
    for name in authors:
        with pytest.raises(FieldError, match="without accounts"):
            add(database, name)


@pytest.mark.parametrize("name", ["a/b", "a\\b", "/", ".", ".."])
def test_a_name_that_addresses_cannot_have_is_refused(database: Database, name: str) -> None:
    with pytest.raises(FieldError, match="in addresses"):
        add(database, name)


def test_an_account_is_found_by_its_id_or_its_name(database: Database) -> None:
    ada = add(database, "caf\u00e9")
    for given in (ada.id, "caf\u00e9", "cafe\u0301"):
        assert accounts.named(database, given) == ada
        assert accounts.author(database, given, for_admin=True) == ada.id
    for given in ("eve", "0" * 20, "\x00", ""):
        with pytest.raises(UnknownNameError):
            accounts.named(database, given)


def test_an_old_name_that_is_the_id_of_another_account_is_ambiguous(database: Database) -> None:
    ada, eve = add(database, "ada"), add(database, "eve")
    rename(database, eve, ada.id)
    with pytest.raises(ConflictError, match="name of the first, or the id of the second"):
        accounts.named(database, ada.id)
    for for_admin in (True, False):
        with pytest.raises(ConflictError, match="name of the first"):
            accounts.author(database, ada.id, for_admin=for_admin)
    assert accounts.named(database, "ada").id == ada.id
    assert accounts.named(database, eve.id).id == eve.id


def rename(database: Database, account: accounts.Account, name: str) -> None:
    """Give an account a name that older versions accepted."""
    with database.write() as connection:
        this = tables.accounts.c.id == account.id
        connection.execute(update(tables.accounts).where(this).values(name=name))


def test_names_of_many_languages_are_accepted(database: Database) -> None:
    names = ["Ada Lovelace", "O'Brien", "j.doe@example.org", "\u7530\u4e2d\u3055\u304f\u3089"]
    names += ["\u0410\u0434\u0430", "\u05e9\u05dc\u05d5\u05dd", "Jos\u00e9", "t1", "t2"]
    assert [add(database, name).name for name in names] == names


def test_the_last_admin_can_be_neither_shut_nor_demoted(database: Database) -> None:
    ada = add(database, "ada", Role.ADMIN)
    bob = add(database, "bob", Role.ADMIN)
    accounts.change(database, bob.id, disabled=True)
    for change in ({"disabled": True}, {"role": "teacher"}):
        with pytest.raises(ConflictError, match="last account"):
            accounts.change(database, ada.id, **change)
    assert accounts.find(database, ada.id) == ada


def test_of_two_admins_who_dismiss_each_other_at_once_one_stays(database: Database) -> None:
    ids = [add(database, name, Role.ADMIN).id for name in ("ada", "bob")]
    refused: list[str] = []

    def dismiss(identity: str) -> None:
        try:
            accounts.change(database, identity, role="teacher")
        except ConflictError:
            refused.append(identity)

    threads = [threading.Thread(target=dismiss, args=(identity,)) for identity in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == accounts.enabled_admins(database) == 1


def test_sessions_last_twelve_hours_after_the_last_use_and_seven_days_at_most(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = add(database, "ada")
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    begun = now
    secret = sessions.create(database, ada.id)
    idle = sessions.create(database, ada.id)
    while sessions.find(database, secret):
        now += 11 * 3600
        assert now - begun < 8 * 24 * 3600
    assert now - begun >= 7 * 24 * 3600
    now = begun + 12 * 3600
    assert sessions.find(database, idle) is None
    now = begun + 7 * 24 * 3600
    sessions.create(database, ada.id)  # deletes both
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM sessions")).scalar() == 1


def test_tokens_expire(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = add(database, "ada", Role.ENGINEER)
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    _, brief = tokens.make(database, ada.id, "brief", lasts=60)
    _, lasting = tokens.make(database, ada.id, "lasting")
    assert tokens.find(database, brief)
    now += 60
    assert tokens.find(database, brief) is None
    assert tokens.find(database, lasting)
