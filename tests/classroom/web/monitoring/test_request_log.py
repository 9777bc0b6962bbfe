"""A line of JSON for each request, without secrets."""

from __future__ import annotations

import io
import json

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from tellback.classroom.store.database import Database
from tellback.classroom.web.monitoring import metrics, request_log
from tellback.classroom.web.security.callers import Role
from tests.support.accounts_app import COOKIE, PASSWORD, add, bearer, sign_in, signed_in


def test_log_lines_name_route_and_account_and_no_secret(
    app: FastAPI, database: Database, log: io.StringIO
) -> None:
    ada = add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    client.get("/api/v1/me")
    secret = client.post("/api/v1/tokens", json={"name": "robot"}).json()["secret"]
    made = client.get("/api/v1/tokens", headers=bearer(secret)).json()[0]["id"]
    client.delete(f"/api/v1/tokens/{made}?{secret}")
    sign_in(client, "ada", "not the password")
    client.post("/api/v1/login", json={"name": "ada", "password": ["a secret"]})
    client.get("/api/v1/fails")
    client.get(f"/{secret}")
    client.request("NO-SUCH-METHOD", "/api/v1/me")
    written = log.getvalue()
    for held in (PASSWORD, "not the password", "a secret", secret, client.cookies[COOKIE]):
        assert held not in written
    lines = [json.loads(line) for line in written.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["method"], line["route"], line["status"]) for line in requests] == [
        ("POST", "/api/v1/login", 200),
        ("GET", "/api/v1/me", 200),
        ("POST", "/api/v1/tokens", 201),
        ("GET", "/api/v1/tokens", 200),
        ("DELETE", "/api/v1/tokens/{token}", 204),
        ("POST", "/api/v1/login", 401),
        ("POST", "/api/v1/login", 422),
        ("GET", "/api/v1/fails", 500),
        ("GET", "(none)", 404),
        ("other", "/api/v1/me", 405),
    ]
    assert [line["account"] for line in requests[:5]] == [ada.id] * 5
    assert {line["client"] for line in requests} == {"testclient"}
    assert requests[-2]["account"] is None
    failure = next(line for line in lines if line["event"] == "failed")
    assert failure["error"] == "RuntimeError"
    assert failure["id"] == requests[7]["id"]
    assert "in fails" in failure["where"][-1]


@pytest.mark.parametrize(
    ("prefix", "path", "route"),
    [
        ("", "/", "/"),
        ("", "/lessons/1/rounds/1", "/lessons/{lesson}/rounds/{round}"),
        ("/api/v1", "/teach/api", "/teach/{lesson}"),
        ("/api/v1", "/lessons/rounds/rounds/1", "/lessons/{lesson}/rounds/{round}"),
        ("/api/v1", "/images/3/a.b.png", "/images/{round}/{index}.png"),
    ],
)
def test_a_route_has_names_where_the_path_has_values(prefix: str, path: str, route: str) -> None:
    async def endpoint() -> None: ...

    scope = {"path": prefix + path, "route": APIRoute(route, endpoint)}
    assert metrics.route_of(scope) == prefix + route


def test_a_request_keeps_the_id_it_came_with_if_that_is_harmless(client: TestClient) -> None:
    kept = client.get("/login", headers={"X-Request-Id": "job-17"})
    assert kept.headers["x-request-id"] == "job-17"
    replaced = client.get("/login", headers={"X-Request-Id": "x" * 65})
    assert len(replaced.headers["x-request-id"]) == 16


def test_what_is_logged_is_a_line_of_json(log: io.StringIO) -> None:
    request_log.logger.warning("two\nlines", extra={"fields": {"count": 3}})
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (line["event"], line["level"], line["count"]) == ("two\nlines", "warning", 3)
