"""Passwords are kept as slow hashes."""

from __future__ import annotations

import pytest

from tellback.classroom.store import accounts, passwords
from tellback.classroom.store.database import Database
from tellback.classroom.web.security.callers import Role
from tellback.errors import FieldError
from tests.support.accounts_app import (
    PASSWORD,
    SMALL,
    add,
    quick_passwords,  # noqa: F401
)


def test_a_password_fits_itself_and_nothing_else() -> None:
    kept = passwords.hash_password(PASSWORD)
    assert passwords.verify_password(PASSWORD, kept)
    assert not passwords.verify_password(PASSWORD + " ", kept)
    assert not passwords.verify_password("", kept)
    assert not passwords.verify_password(PASSWORD, None)
    assert not passwords.verify_password(PASSWORD, "scrypt$nonsense")
    assert kept != passwords.hash_password(PASSWORD)


def test_a_password_hashed_at_another_cost_still_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = passwords.hash_password(PASSWORD)
    monkeypatch.setattr(passwords, "COST", passwords.Cost(4, 8, 2))
    assert passwords.verify_password(PASSWORD, kept)


def test_the_same_letters_from_another_keyboard_are_the_same_password() -> None:
    assert passwords.verify_password(
        "three cafe\u0301s", passwords.hash_password("three caf\u00e9s")
    )


@pytest.mark.parametrize("password", ["", "x" * 9, "x" * 201])
def test_too_short_and_too_long_passwords_are_refused(password: str) -> None:
    with pytest.raises(FieldError, match="10 to 200"):
        passwords.hash_password(password)


def test_guessing_a_password_takes_32_megabytes_and_its_hash_fits_the_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    assert 128 * passwords.COST.n * passwords.COST.r >= 32 * 2**20
    kept = passwords.hash_password(PASSWORD)
    assert kept.startswith("scrypt$32768$8$3$")
    assert len(kept) <= 200


def test_an_unknown_name_costs_as_many_hashes_as_a_known_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(database, "ada")
    accounts.add(database, "robot", Role.ENGINEER, None)
    computed: list[passwords.Cost] = []
    hashing = passwords._hashed

    def counted(password: str, cost: passwords.Cost, salt: bytes) -> str:
        computed.append(cost)
        return hashing(password, cost, salt)

    monkeypatch.setattr(passwords, "_hashed", counted)
    for name in ("ada", "nobody", "robot", "\x00"):
        computed.clear()
        assert accounts.signed_in(database, name, "not the password") is None
        assert computed == [SMALL]
