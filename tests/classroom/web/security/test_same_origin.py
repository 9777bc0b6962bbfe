"""Requests that a page of another site made a browser send are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tellback.classroom.settings import Settings
from tellback.classroom.store import tokens
from tellback.classroom.store.database import Database
from tellback.classroom.web.security.callers import Role
from tellback.classroom.web.security.same_origin import without_port
from tests.support.accounts_app import (
    COOKIE,
    ORIGIN,
    PASSWORD,
    add,
    app_of,
    bearer,
    client_of,
    code,
    signed_in,
)


def test_a_program_with_a_token_needs_no_origin(client: TestClient, database: Database) -> None:
    ada = add(database, "ada", Role.ENGINEER)
    _, secret = tokens.make(database, ada.id, "robot")
    answer = client.post("/api/v1/tokens", json={"name": "x"}, headers=bearer(secret))
    assert answer.status_code == 201


FETCH, FORM = {"Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Mode": "navigate"}
FROM_ELSEWHERE: dict[str, dict[str, str]] = {
    "a form": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} | FORM,
    "a form in an older browser": {"Origin": "https://evil.example"},
    "a fetch without CORS": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    | FETCH,
    "a fetch without an origin": {"Sec-Fetch-Site": "cross-site"} | FETCH,
    "a sandboxed page": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "a sandboxed page in an older browser": {"Origin": "null"},
    "a page of ours without a referrer": {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    "another port": {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},
    "another port in an older browser": {"Origin": "http://localhost:3000"},
    "no port": {"Origin": "http://localhost"},
    "another scheme": {"Origin": "https://localhost:8000", "Sec-Fetch-Site": "cross-site"},
    "another scheme in an older browser": {"Origin": "https://localhost:8000"},
    "no scheme of the web": {"Origin": "file://localhost:8000"},
    "another name of ours": {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "cross-site"},
    "a sibling": {"Sec-Fetch-Site": "same-site"},
    "a sibling that names us": {"Sec-Fetch-Site": "same-site", "Origin": ORIGIN},
    "a name that begins as ours": {"Origin": "http://localhost.evil.example:8000"},
    "a lie about the site": {"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"},
    "no URL": {"Origin": "http://["},
    "an empty origin": {"Origin": ""},
    "an unknown site": {"Sec-Fetch-Site": "elsewhere"},
}
FROM_US: list[dict[str, str]] = [
    {"Origin": ORIGIN},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "same-origin", "Origin": ORIGIN},
]
FROM_NOWHERE: list[dict[str, str]] = [{}, {"Sec-Fetch-Site": "none"}]


@pytest.mark.parametrize("with_accounts", [True, False])
@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "multipart/form-data; boundary=x"]
)
def test_changes_that_another_page_asks_for_are_refused(
    settings: Settings, database: Database, with_accounts: bool, kind: str
) -> None:
    client = client_of(app_of(replace(settings, accounts=with_accounts), database))
    for name, headers in FROM_ELSEWHERE.items():
        answer = client.post("/api/v1/lessons/x/size", headers=headers | {"Content-Type": kind})
        assert code(answer) == (403, "other_origin"), name
        assert "access-control-allow-origin" not in answer.headers
    for headers in FROM_US + FROM_NOWHERE:
        assert client.post("/api/v1/lessons/x/size", headers=headers).status_code == 200, headers


def test_a_change_with_the_cookie_of_a_session_must_come_from_our_own_pages(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    del client.headers["Origin"]
    body = {"name": "robot"}
    for headers in (*FROM_ELSEWHERE.values(), *FROM_NOWHERE):
        answer = client.post("/api/v1/tokens", json=body, headers=headers)
        assert code(answer) == (403, "other_origin"), headers
        assert code(client.post("/api/v1/logout", headers=headers)) == (403, "other_origin")
    assert tokens.listed(database) == []
    assert client.get("/api/v1/me").status_code == 200
    for headers in FROM_US:
        assert client.post("/api/v1/tokens", json=body, headers=headers).status_code == 201


def test_two_origins_or_sites_count_as_the_worse(app: FastAPI, database: Database) -> None:
    add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    del client.headers["Origin"]
    evil = [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]
    for own in (("Origin", ORIGIN), ("Sec-Fetch-Site", "same-origin")):
        for other in evil:
            for headers in ([own, other], [other, own]):
                answer = client.post("/api/v1/logout", headers=headers)
                assert code(answer) == (403, "other_origin")


def test_nobody_is_signed_in_by_another_page(client: TestClient, database: Database) -> None:
    add(database, "mallory")
    body = {"name": "mallory", "password": PASSWORD}
    for headers in FROM_ELSEWHERE.values():
        answer = client.post("/api/v1/login", json=body, headers=headers)
        assert code(answer) == (403, "other_origin")
        assert COOKIE not in client.cookies


def test_behind_https_only_https_is_our_origin(settings: Settings, database: Database) -> None:
    app = app_of(replace(settings, hosts=("teach.example",), secure=True), database)
    client = TestClient(app, base_url="https://teach.example")
    path, same = "/api/v1/lessons/x/size", {"Sec-Fetch-Site": "same-origin"}
    for origin in ("http://teach.example", "http://teach.example:443", "https://teach.example:1"):
        assert code(client.post(path, headers={"Origin": origin})) == (403, "other_origin")
    assert code(client.post(path, headers=same | {"Origin": "http://teach.example"}))[0] == 403
    own = {"Origin": "https://teach.example"}
    for headers in (own, own | same, own | {"Host": "teach.example:443"}):
        assert client.post(path, headers=headers).status_code == 200
    # A proxy may leave the port out of Host.
    elsewhere = same | {"Origin": "https://teach.example:8443"}
    assert client.post(path, headers=elsewhere).status_code == 200


@pytest.mark.parametrize("with_accounts", [True, False])
def test_requests_to_a_name_that_is_not_ours_are_refused(
    settings: Settings, database: Database, with_accounts: bool
) -> None:
    client = client_of(app_of(replace(settings, accounts=with_accounts), database))
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "localhost:x", ""):
        answer = client.get("/login", headers={"Host": host})
        assert code(answer) == (421, "unknown_host"), host
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"):
        answer = client.get("/login", headers={"Host": host}, follow_redirects=False)
        assert answer.status_code in (200, 303), host


def test_a_request_with_two_hosts_or_none_is_refused(client: TestClient) -> None:
    headers = [("Host", "localhost"), ("Host", "evil.example")]
    assert code(client.get("/login", headers=headers)) == (400, "bad_host")


def test_the_port_is_taken_off_a_host() -> None:
    hosts = ["a:80", "a", "[::1]", "[::1]:80", "a:", "a:b"]
    assert [without_port(host) for host in hosts] == ["a", "a", "[::1]", "[::1]", "a:", "a:b"]
