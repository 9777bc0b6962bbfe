"""How many requests one caller may send."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from tellback.classroom.settings import Settings
from tellback.classroom.store import login_attempts, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.web.security.callers import Role
from tellback.classroom.web.security.rate_limits import RateLimiter, neighbours
from tests.support.accounts_app import add, app_of, bearer, client_of, code, sign_in


@pytest.mark.usefixtures("no_time_passes")
def test_guessing_passwords_is_slowed_down_for_the_guesser_alone(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    guesser = client_of(app, client=("203.0.113.1", 1))
    for _ in range(10):
        assert sign_in(guesser, "ada", "wrong").status_code == 401
    answer = sign_in(guesser, "ada")
    assert code(answer) == (429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 6
    assert sign_in(client_of(app, client=("203.0.113.2", 1)), "ada").status_code == 200


@pytest.mark.usefixtures("no_time_passes")
def test_guesses_are_counted_for_all_processes_together(
    settings: Settings, database: Database
) -> None:
    add(database, "ada")
    workers = [client_of(app_of(settings, database)) for _ in range(2)]
    statuses = [sign_in(workers[i % 2], "ada", "wrong").status_code for i in range(11)]
    assert statuses == [401] * 10 + [429]


@pytest.mark.usefixtures("no_time_passes")
def test_a_name_counts_as_the_one_that_is_looked_up(app: FastAPI, database: Database) -> None:
    add(database, "Karl")
    client = client_of(app)
    kelvin = "\u212aarl"  # the same after normalisation
    names = ["Karl", kelvin] * 5
    assert [sign_in(client, name, "wrong").status_code for name in names] == [401] * 10
    assert [sign_in(client, name).status_code for name in ("Karl", kelvin)] == [429, 429]


def test_a_minute_later_one_may_guess_again(
    app: FastAPI, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(database, "ada")
    now = 1e9
    monkeypatch.setattr(login_attempts, "time", SimpleNamespace(time=lambda: now))
    client = client_of(app)
    assert [sign_in(client, "ada", "wrong").status_code for _ in range(11)][-1] == 429
    now += 7
    assert [sign_in(client, "ada", "wrong").status_code for _ in range(2)] == [401, 429]
    now += 61
    assert [sign_in(client, "ada", "no").status_code for _ in range(11)] == [401] * 10 + [429]


@pytest.mark.usefixtures("no_time_passes")
def test_behind_a_trusted_proxy_each_client_has_its_own_share(
    settings: Settings, database: Database
) -> None:
    add(database, "ada")
    # The wrapper and its settings are those with which the service runs.
    app: Any = app_of(settings, database)
    trusted: Any = ProxyHeadersMiddleware(app, ["10.0.0.0/8"])
    for proxy, last in (("10.1.2.3", 401), ("192.0.2.9", 429)):
        client = client_of(trusted, client=(proxy, 1))
        for i in range(11):
            headers = {"X-Forwarded-For": f"203.0.113.{i}"}
            answer = sign_in(client, "ada", "wrong", headers=headers)
        assert answer.status_code == last


@pytest.mark.usefixtures("no_time_passes")
def test_trying_many_names_is_slowed_down_too(app: FastAPI) -> None:
    with client_of(app) as client:
        statuses = [sign_in(client, f"name {i}").status_code for i in range(61)]
    assert statuses == [401] * 60 + [429]


@pytest.mark.usefixtures("no_time_passes")
def test_too_many_requests_are_told_when_to_come_back(
    settings: Settings, database: Database
) -> None:
    ada, bob = add(database, "ada"), add(database, "bob")
    app = app_of(replace(settings, requests_a_minute=3), database)
    robots = [
        client_of(app, headers=bearer(tokens.make(database, one.id, "robot")[1]))
        for one in (ada, bob)
    ]
    assert [robot.get("/api/v1/me").status_code for robot in robots] == [200, 200]
    for robot in robots:  # known by now, so that each has its own share
        assert [robot.get("/api/v1/me").status_code for _ in range(4)] == [200, 200, 200, 429]
    guesses = [client_of(app, headers=bearer(f"tb_{i}")).get("/api/v1/me") for i in range(2)]
    assert [guess.status_code for guess in guesses] == [401, 429]
    assert 1 <= int(guesses[1].headers["retry-after"]) <= 20


def test_a_bucket_gives_so_many_at_once_and_then_so_many_a_minute() -> None:
    now = 0.0
    six = RateLimiter(6, lambda: now)
    assert [six.wait("a") for _ in range(7)] == [0] * 6 + [10]
    assert six.wait("b") == 0
    now = 4
    assert six.wait("a") == pytest.approx(6)
    now = 10
    assert [six.wait("a"), six.wait("a")] == [0, pytest.approx(10)]
    now = 10_000
    assert [six.wait("a") for _ in range(7)] == [0] * 6 + [10]
    assert [RateLimiter(0).wait("a") for _ in range(100)] == [0] * 100


def test_a_large_body_counts_as_several_requests(settings: Settings, database: Database) -> None:
    ada = add(database, "ada", Role.ENGINEER)
    app = app_of(replace(settings, requests_a_minute=60), database)
    robot = client_of(app, headers=bearer(tokens.make(database, ada.id, "robot")[1]))
    assert robot.get("/api/v1/me").status_code == 200
    path = "/api/v1/lessons/x/import"
    assert robot.post(path, content=b" " * 59 * 2**16).status_code == 200
    assert robot.post(path, content=b" " * 2**17).status_code == 429


def test_what_weighs_more_than_a_bucket_passes_when_it_is_full() -> None:
    now = 0.0
    six = RateLimiter(6, lambda: now)
    assert six.wait("a", 12) == 0
    assert six.wait("a") == pytest.approx(70)  # 12 were taken from 6
    now = 130
    assert six.wait("a", 12) == 0


@given(st.lists(st.floats(0, 30), max_size=60), st.integers(1, 20))
def test_no_pattern_of_requests_gets_more_than_a_bucket_and_its_refill(
    pauses: list[float], a_minute: int
) -> None:
    now, passed = 0.0, 0
    some = RateLimiter(a_minute, lambda: now)
    for pause in pauses:
        now += pause
        passed += some.wait("a") == 0
        assert passed <= a_minute + now * a_minute / 60 + 1e-6


def test_one_subscriber_counts_as_one_address() -> None:
    assert neighbours("192.0.2.7") == "192.0.2.7"
    assert neighbours("2001:db8::1") == neighbours("2001:db8::ffff:1") != neighbours("2001:db9::1")
    assert neighbours("::ffff:192.0.2.7") == "192.0.2.7"
    assert neighbours("not:an:address") == "not:an:address"
