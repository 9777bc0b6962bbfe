"""Who calls, and whether their role is enough."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.testclient import TestClient

from tellback.classroom.store import sessions, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.web.security import caller_cache
from tellback.classroom.web.security.callers import Caller, Role
from tellback.classroom.web.security.credentials import Credential
from tests.support.accounts_app import COOKIE, add, bearer, client_of, code, signed_in


def test_what_was_read_before_something_was_revoked_is_not_remembered_after_it() -> None:
    remembered, ada = caller_cache.CallerCache(), Caller("1", "ada", Role.TEACHER)
    token = Credential("tb_secret", from_cookie=False)
    before = remembered.generation
    remembered.forget()
    remembered.remember(token, ada, None, before)
    assert remembered.caller(token) is None
    remembered.remember(token, ada, None, remembered.generation)
    assert remembered.caller(token) == ada
    assert remembered.caller(token._replace(from_cookie=True)) is None


def test_a_session_is_no_token_and_a_token_is_no_session(app: FastAPI, database: Database) -> None:
    ada = add(database, "ada")
    session = sessions.create(database, ada.id)
    _, token = tokens.make(database, ada.id, "robot")
    # Each way round, before and after the service has met the credential as what it is.
    for _ in range(2):
        assert client_of(app, cookies={COOKIE: token}).get("/api/v1/me").status_code == 401
        assert client_of(app, headers=bearer(session)).get("/api/v1/me").status_code == 401
        assert client_of(app, cookies={COOKIE: session}).get("/api/v1/me").status_code == 200
        assert client_of(app, headers=bearer(token)).get("/api/v1/me").status_code == 200


def test_a_bad_token_is_not_made_good_by_a_cookie(app: FastAPI, database: Database) -> None:
    add(database, "ada")
    client = signed_in(app, "ada")
    assert client.get("/api/v1/me", headers=bearer("tb_guessed")).status_code == 401


def test_each_role_may_do_what_the_ones_before_it_may() -> None:
    order = [Role.TEACHER, Role.REVIEWER, Role.ENGINEER, Role.ADMIN]
    for i, one in enumerate(order):
        assert [one.may(needed) for needed in order] == [j <= i for j in range(4)]


def test_endpoints_are_open_from_their_role_upwards(client: TestClient, database: Database) -> None:
    needed = {"me": "teacher", "review": "reviewer", "tokens": "engineer", "accounts": "admin"}
    for role in Role:
        _, secret = tokens.make(database, add(database, role, role).id, "robot")
        for path, least in needed.items():
            answer = client.get(f"/api/v1/{path}", headers=bearer(secret))
            assert answer.status_code == (200 if role.may(Role(least)) else 403), (role, path)
    for path in needed:
        assert client.get(f"/api/v1/{path}").status_code == 401


def test_a_page_of_one_account_does_not_act_for_another(app: FastAPI, database: Database) -> None:
    ada, ben = add(database, "ada"), add(database, "ben")
    client = signed_in(app, "ben")
    answer = client.get("/api/v1/me", headers={"Tellback-Account": ada.id})
    assert code(answer) == (409, "other_account")
    answer = client.post("/api/v1/logout", headers={"Tellback-Account": ada.id})
    assert code(answer) == (409, "other_account")
    assert client.get("/api/v1/me", headers={"Tellback-Account": ben.id}).status_code == 200
