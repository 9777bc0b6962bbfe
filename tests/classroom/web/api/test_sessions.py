"""Signing in and out."""

from __future__ import annotations

import json
from dataclasses import replace

from fastapi import FastAPI
from fastapi.testclient import TestClient

from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts
from tellback.classroom.store.database import Database
from tellback.classroom.web.security.callers import Role
from tests.support.accounts_app import (
    COOKIE,
    MEMBERS,
    ORIGIN,
    PASSWORD,
    add,
    app_of,
    client_of,
    code,
    sign_in,
    signed_in,
)


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(
    client: TestClient, database: Database
) -> None:
    add(database, "ada")
    shut = add(database, "shut")
    accounts.change(database, shut.id, disabled=True)
    answers = [sign_in(client, "ada", "wrong"), sign_in(client, "nobody"), sign_in(client, "shut")]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert all(answer.headers["www-authenticate"] == "Bearer" for answer in answers)
    assert not any("set-cookie" in answer.headers for answer in answers)


def test_signing_in_sets_a_cookie_that_no_script_can_read(
    client: TestClient, database: Database
) -> None:
    ada = add(database, "ada", Role.REVIEWER)
    answer = sign_in(client, "ada")
    me = answer.json()
    assert {"account": ada.id, "name": "ada", "role": "reviewer"}.items() <= me.items()
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"{COOKIE}=")
    assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))
    assert client.get("/api/v1/me").json() == me


def test_behind_https_the_cookie_travels_over_nothing_else(
    settings: Settings, database: Database
) -> None:
    add(database, "ada")
    app = app_of(replace(settings, secure=True), database)
    client = TestClient(app, base_url="https://localhost")
    answer = sign_in(client, "ada")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"__Host-{COOKIE}=")
    assert "Secure" in cookie.split("; ")
    assert "Domain" not in cookie
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    assert client.get("/api/v1/me").status_code == 200


def test_each_sign_in_begins_a_new_session_and_ends_the_one_before(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    client = signed_in(app, "ada")
    before = client.cookies[COOKIE]
    assert sign_in(client, "ada").status_code == 200
    assert client.cookies[COOKIE] != before
    stale = client_of(app, cookies={COOKIE: before})
    assert code(stale.get("/api/v1/me")) == (401, "not_signed_in")


def test_a_session_that_the_visitor_made_up_is_not_adopted(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    client = client_of(app, cookies={COOKIE: "planted"})
    answer = sign_in(client, "ada", headers={"Origin": ORIGIN})
    assert "planted" not in answer.headers["set-cookie"]
    assert client_of(app, cookies={COOKIE: "planted"}).get("/api/v1/me").status_code == 401


def test_signing_out_ends_the_session_at_once(app: FastAPI, database: Database) -> None:
    add(database, "ada")
    client = signed_in(app, "ada")
    secret = client.cookies[COOKIE]
    assert client.post("/api/v1/logout").status_code == 204
    assert COOKIE not in client.cookies
    assert client_of(app, cookies={COOKIE: secret}).get("/api/v1/me").status_code == 401


def test_who_changes_the_password_stays_signed_in_here_and_nowhere_else(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    here, elsewhere = signed_in(app, "ada"), signed_in(app, "ada")
    body = {"current": "not the password", "new": "another password"}
    assert code(here.put("/api/v1/me/password", json=body)) == (403, "wrong_password")
    body["current"] = PASSWORD
    answer = here.put("/api/v1/me/password", json=body)
    assert here.get("/api/v1/me").json() == answer.json()
    assert elsewhere.get("/api/v1/me").status_code == 401
    assert sign_in(client_of(app), "ada").status_code == 401
    assert sign_in(client_of(app), "ada", "another password").status_code == 200


def test_bodies_that_are_no_object_are_refused(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (b"{", b"[" * 60_000, b"\xff\xfe", b'"\\ud800"', b"", b"null"):
        answer = client.post("/api/v1/login", content=body, headers=headers)
        assert answer.status_code in (400, 422), body[:10]
        assert set(answer.json()) == MEMBERS


def test_a_form_of_another_site_is_no_sign_in(client: TestClient, database: Database) -> None:
    add(database, "ada")
    body = json.dumps({"name": "ada", "password": PASSWORD})
    headers = {"Content-Type": "text/plain"}
    assert client.post("/api/v1/login", content=body, headers=headers).status_code == 422


def test_on_ones_own_machine_nobody_signs_in(settings: Settings, database: Database) -> None:
    client = client_of(app_of(replace(settings, accounts=False), database))
    me = client.get("/api/v1/me").json()
    assert (me["name"], me["role"]) == ("you", "admin")
    assert client.get("/login", follow_redirects=False).headers["location"] == "/"
    assert code(sign_in(client, "ada")) == (409, "no_accounts")
    assert code(client.post("/api/v1/tokens", json={"name": "x"})) == (409, "no_accounts")
    change = {"current": PASSWORD, "new": PASSWORD}
    assert code(client.put("/api/v1/me/password", json=change)) == (409, "no_accounts")
    assert client.post("/api/v1/logout").status_code == 204
