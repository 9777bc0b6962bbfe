"""Accounts from the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.store.errors import ConflictError
from tellback.cli.accounts import accounts_app
from tellback.errors import FieldError, TellbackError, UnknownNameError
from tests.support.accounts_app import (
    PASSWORD,
    quick_passwords,  # noqa: F401
)


def test_accounts_are_managed_from_the_command_line(database: Database) -> None:
    url = str(database)

    def call(*words: str, typed: str = "") -> str:
        result = CliRunner().invoke(accounts_app, [*words, "--database", url], input=typed)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        assert PASSWORD not in result.output
        return result.output

    call("add", "root", "--role", "admin", typed=f"{PASSWORD}\n{PASSWORD}\n")
    call("add", "ada", "--password-stdin", typed=f"{PASSWORD}\n")
    assert accounts.signed_in(database, "root", PASSWORD)
    ada = accounts.signed_in(database, "ada", PASSWORD)
    assert ada
    assert ada.role == "teacher"
    call("role", "ada", "engineer")
    secret = call("token", "ada", "--for", "robot", "--days", "3").strip()
    holder = tokens.find(database, secret)
    assert holder
    assert holder.role == "engineer"
    call("disable", "ada")
    assert tokens.find(database, secret) is None
    assert "disabled" in call("list")
    with pytest.raises(TellbackError, match="disabled"):
        call("token", "ada")
    assert "ada can sign in again." in call("enable", ada.id)
    call("password", "ada", "--password-stdin", typed="another password\n")
    assert accounts.signed_in(database, "ada", "another password")
    with pytest.raises(UnknownNameError, match="nobody"):
        call("disable", "nobody")
    with pytest.raises(ConflictError, match="last account"):
        call("role", "root", "teacher")
    with pytest.raises(FieldError, match="10 to 200"):
        call("add", "eve", "--password-stdin", typed="short\n")
