"""Admins manage accounts."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from sqlalchemy import update

from tellback.classroom.store import accounts, tables, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.web.security.callers import Role
from tests.support.accounts_app import PASSWORD, add, bearer, client_of, code, sign_in, signed_in


def test_an_admin_manages_accounts(app: FastAPI, database: Database) -> None:
    root_account = add(database, "root", Role.ADMIN)
    root = signed_in(app, "root")
    new = {"name": "ada", "role": "teacher", "password": PASSWORD}
    answer = root.post("/api/v1/accounts", json=new)
    assert answer.status_code == 201
    assert "password" not in answer.json()
    path = f"/api/v1/accounts/{answer.json()['id']}"
    assert code(root.post("/api/v1/accounts", json=new)) == (409, "name_taken")
    ada = signed_in(app, "ada")
    assert ada.get("/api/v1/review").status_code == 403
    assert root.patch(path, json={"role": "reviewer"}).json()["role"] == "reviewer"
    assert ada.get("/api/v1/review").status_code == 200, "a new role counts at once"
    assert root.patch(path, json={"password": "a new password"}).status_code == 200
    assert ada.get("/api/v1/me").status_code == 401
    assert [one["name"] for one in root.get("/api/v1/accounts").json()] == ["ada", "root"]
    assert code(root.patch(f"/api/v1/accounts/{'0' * 20}", json={})) == (404, "not_found")
    own = f"/api/v1/accounts/{root_account.id}"
    assert code(root.patch(own, json={"disabled": True})) == (409, "last_admin")
    assert code(root.patch("/api/v1/accounts/%00", json={})) == (404, "not_found")
    assert code(root.patch(path, json={"disabled": 0})) == (422, "invalid")


def test_a_disabled_account_is_out_at_once_and_for_good(app: FastAPI, database: Database) -> None:
    add(database, "root", Role.ADMIN)
    ada = add(database, "ada", Role.ENGINEER)
    root, browser = signed_in(app, "root"), signed_in(app, "ada")
    _, secret = tokens.make(database, ada.id, "robot")
    robot = client_of(app, headers=bearer(secret))
    assert [one.get("/api/v1/me").status_code for one in (browser, robot)] == [200, 200]
    for disabled in (True, False):
        changed = root.patch(f"/api/v1/accounts/{ada.id}", json={"disabled": disabled})
        assert changed.json()["disabled"] is disabled
        assert [one.get("/api/v1/me").status_code for one in (browser, robot)] == [401, 401]
        assert sign_in(client_of(app), "ada").status_code == (401 if disabled else 200)


def test_a_name_that_is_the_id_of_another_account_changes_neither(
    app: FastAPI, database: Database
) -> None:
    add(database, "root", Role.ADMIN)
    ada, eve = add(database, "ada"), add(database, "eve")
    with database.write() as connection:  # as older versions let it be called
        this = tables.accounts.c.id == eve.id
        connection.execute(update(tables.accounts).where(this).values(name=ada.id))
    root, shut = signed_in(app, "root"), {"disabled": True}
    answer = root.patch(f"/api/v1/accounts/{ada.id}", json=shut)
    assert code(answer) == (409, "ambiguous")
    assert not any(one.disabled for one in accounts.listed(database))
    for called, meant in (("ada", ada), (eve.id, eve)):
        assert root.patch(f"/api/v1/accounts/{called}", json=shut).json()["id"] == meant.id


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"name": "x", "password": PASSWORD, "admin": True}, "admin"),
    ({"name": "x"}, "password"),
    ({"name": "x" * 81, "password": PASSWORD}, "name"),
    ({"name": "a\x00b", "password": PASSWORD}, "name"),
    ({"name": "x", "password": "short"}, "password"),
    ({"name": "x", "password": "y" * 201}, "password"),
    ({"name": "x", "password": PASSWORD, "role": "king"}, "role"),
    ({"name": {"a": 1}, "password": PASSWORD}, "name"),
]


def test_bodies_that_do_not_fit_are_refused_by_field_and_not_repeated(
    app: FastAPI, database: Database
) -> None:
    add(database, "root", Role.ADMIN)
    root = signed_in(app, "root")
    for body, field in UNFIT:
        answer = root.post("/api/v1/accounts", json=body)
        assert code(answer) == (422, "invalid"), body
        assert answer.json()["field"] == field
        for value in (PASSWORD, "y" * 201, "king"):
            assert value not in answer.text
    assert len(accounts.listed(database)) == 1
