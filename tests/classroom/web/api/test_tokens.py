"""Tokens, with which programs authenticate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tellback.classroom.settings import Settings
from tellback.classroom.store import tokens
from tellback.classroom.store.database import Database
from tellback.classroom.web.security.callers import Role
from tellback.classroom.web.security.revocations import SIZE
from tests.support.accounts_app import (
    COOKIE,
    PASSWORD,
    add,
    app_of,
    bearer,
    client_of,
    code,
    signed_in,
)


def test_no_secret_is_in_the_database(app: FastAPI, database: Database, tmp_path: Path) -> None:
    add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    session = client.cookies[COOKIE]
    token = client.post("/api/v1/tokens", json={"name": "robot"}).json()["secret"]
    database.close()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("classroom.db*"))
    assert b"ada" in stored
    for secret in (PASSWORD, session, token, token[3:]):
        assert secret.encode() not in stored


def test_an_expired_token_is_refused_even_if_it_was_good_a_moment_ago(
    client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = add(database, "ada")
    token, secret = tokens.make(database, ada.id, "robot", lasts=1000)
    assert client.get("/api/v1/me", headers=bearer(secret)).json()["name"] == "ada"
    assert token.expires is not None
    clock_of(client, lambda: token.expires or 0.0)
    monkeypatch.setattr("time.time", lambda: token.expires)
    assert code(client.get("/api/v1/me", headers=bearer(secret))) == (401, "not_signed_in")


def clock_of(client: TestClient, clock: Callable[[], float]) -> None:
    """Tell the client's app another time."""
    app: Any = client.app
    app.state.caller_cache._clock = clock


def test_a_revoked_token_is_refused_at_once_by_every_process(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    add(database, "ada", Role.ENGINEER)
    shared = tmp_path / "shared"
    shared.write_bytes(bytes(SIZE))
    here, there = [app_of(settings, database, shared) for _ in range(2)]
    elsewhere = app_of(settings, database)  # another service on the same database
    client = signed_in(here, "ada")
    made = client.post("/api/v1/tokens", json={"name": "robot", "days": 2}).json()
    assert made["secret"].startswith("tb_")
    robots = [client_of(app, headers=bearer(made["secret"])) for app in (here, there, elsewhere)]
    assert [robot.get("/api/v1/me").status_code for robot in robots] == [200, 200, 200]
    assert client.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert [robot.get("/api/v1/me").status_code for robot in robots[:2]] == [401, 401]
    clock = elsewhere.state.caller_cache._clock
    clock_of(robots[2], lambda: clock() + 2)
    assert robots[2].get("/api/v1/me").status_code == 401


def test_tokens_that_nobody_made_are_refused(client: TestClient) -> None:
    for secret in ("", "tb_", "tb_guessed", "x" * 10_000, "\u00e9", "tb_\u00ff"):
        headers = {b"Authorization": f"Bearer {secret}".encode("latin-1")}
        answer = client.get("/api/v1/me", headers=headers)
        assert code(answer) == (401, "not_signed_in"), secret
        assert answer.headers["www-authenticate"] == "Bearer"


def test_engineers_see_and_revoke_their_own_tokens_and_admins_all(
    app: FastAPI, database: Database
) -> None:
    add(database, "root", Role.ADMIN)
    ada = add(database, "ada", Role.ENGINEER)
    add(database, "eve", Role.ENGINEER)
    root, eve = signed_in(app, "root"), signed_in(app, "eve")
    made = root.post("/api/v1/tokens", json={"name": "robot", "account": ada.id}).json()
    robot = client_of(app, headers=bearer(made["secret"]))
    assert robot.get("/api/v1/me").json()["name"] == "ada"
    assert [one["id"] for one in robot.get("/api/v1/tokens").json()] == [made["id"]]
    assert eve.get("/api/v1/tokens").json() == []
    assert code(eve.get("/api/v1/tokens?everybody=true")) == (403, "forbidden")
    assert code(eve.delete(f"/api/v1/tokens/{made['id']}")) == (404, "not_found")
    for_ada = {"name": "mine", "account": ada.id}
    assert code(eve.post("/api/v1/tokens", json=for_ada)) == (403, "forbidden")
    assert robot.get("/api/v1/me").status_code == 200
    (shown,) = root.get("/api/v1/tokens?everybody=true").json()
    assert "secret" not in shown
    assert root.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert robot.get("/api/v1/me").status_code == 401
    for nobody in ("0" * 20, "nobody", "a\x00b"):
        body = {"name": "x", "account": nobody}
        assert code(root.post("/api/v1/tokens", json=body)) == (404, "not_found")


def test_a_token_is_made_for_an_account_by_its_id_or_its_name(
    app: FastAPI, database: Database
) -> None:
    add(database, "root", Role.ADMIN)
    eve, ada = add(database, "eve", Role.ENGINEER), add(database, "ada")
    for who, called, meant in (
        ("root", ada.id, ada),
        ("root", "ada", ada),
        ("eve", eve.id, eve),
        ("eve", "eve", eve),
    ):
        body = {"name": "x", "account": called}
        made = signed_in(app, who).post("/api/v1/tokens", json=body)
        assert made.json()["account"] == meant.id
    for called in ("ada", "nobody"):  # whoever is no admin does not learn who there is
        answer = signed_in(app, "eve").post("/api/v1/tokens", json=body | {"account": called})
        assert code(answer) == (403, "forbidden")
