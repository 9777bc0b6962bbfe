"""Running the service."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts
from tellback.classroom.store.database import Database
from tellback.classroom.web.security.callers import Role
from tellback.classroom.web.serving import _warn_of_deaths, demand_safe_host
from tellback.errors import SettingError, TellbackError
from tests.support.accounts_app import add


def test_a_classroom_listens_beyond_this_machine_only_with_accounts_and_an_admin(
    settings: Settings, database: Database
) -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        demand_safe_host(replace(settings, accounts=False), host, database)
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", ""):
        with pytest.raises(TellbackError, match=r"127\.0\.0\.1"):
            demand_safe_host(replace(settings, accounts=False), host, database)
        with pytest.raises(TellbackError, match="tellback accounts add NAME --role admin"):
            demand_safe_host(settings, host, database)
    add(database, "ada", Role.ENGINEER)
    root = add(database, "root", Role.ADMIN)
    demand_safe_host(settings, "0.0.0.0", database)
    other = add(database, "other", Role.ADMIN)
    accounts.change(database, root.id, disabled=True)
    demand_safe_host(settings, "0.0.0.0", database)
    assert accounts.find(database, other.id) == other


@pytest.mark.parametrize("wrong", ["example.org", "10.0.0.1/8", "*", ""])
def test_proxies_are_addresses_or_networks(settings: Settings, wrong: str) -> None:
    assert replace(settings, proxies=("10.0.0.0/8", "::1")).proxies == ("10.0.0.0/8", "::1")
    with pytest.raises(SettingError, match="proxies must be addresses"):
        replace(settings, proxies=(wrong,))


def test_a_process_that_died_is_a_warning() -> None:
    for says, level in (("Child process [7] died", "WARNING"), ("Started", "INFO")):
        record = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, says, (), None)
        assert _warn_of_deaths(record)
        assert record.levelname == level
