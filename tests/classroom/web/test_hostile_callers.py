"""Callers who try what they may not do."""

from __future__ import annotations

import time
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from tellback.classroom.store import sessions, tables, tokens
from tests.support.hostile_school import API, PASSWORD, TASK, School, claimed, demand

TRICKS = [
    "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "a%00b",
    "%0d%0aSet-Cookie:x",
    "a" * 5000,
    "'%20OR%201=1--",
    '"',
    "%ff",
    "1e3",
    "٣",
    "-1",
    "0",
    "9" * 30,
    "{lesson}",
    ";a=b",
    "A",
]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("trick", TRICKS, ids=range(len(TRICKS)))
def test_tricks_in_paths_lead_nowhere(school: School, trick: str) -> None:
    client = school.clients["adm"]
    for path, methods in school.app.openapi()["paths"].items():
        if "{" not in path or path.endswith("/updates"):
            continue
        names = [part for part in path.split("/") if "{" in part]
        for name in names:
            known = {"{lesson}": school.words, "{round}": "1", "{index}.png": "0.png"}
            tried = path
            for other in names:
                value = known.get(other, "0" * 20)
                tried = tried.replace(other, trick if other == name else value)
            for method in methods:
                answer = client.request(method, tried, json={})
                if "/teachers/" in path and answer.status_code == 200:
                    # A proper name, but nobody's: there is nothing to delete.
                    assert answer.json()["events"] == 0
                    continue
                assert answer.status_code in (303, 307, 404, 405, 422), (method, tried, answer.text)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/",
        "/static",
        "/static/api.js/../../app.py",
        "/.env",
        "/openapi.json/../x",
        "/redoc",
    ],
)
def test_only_static_files_are_served(school: School, path: str) -> None:
    answer = school.client().get(path)
    assert answer.status_code in (303, 307, 404), answer.text
    assert "create_app" not in answer.text


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example"}, 421, "unknown_host"),
        ({"Host": "localhost.evil.example"}, 421, "unknown_host"),
        ({"Host": "localhost@evil.example"}, 421, "unknown_host"),
        ({"Host": ""}, 421, "unknown_host"),
        ({"Origin": "https://evil.example"}, 403, "other_origin"),
        ({"Origin": "null"}, 403, "other_origin"),
        ({"Origin": "http://localhost.evil.example"}, 403, "other_origin"),
        ({"Origin": "http://localhost:9"}, 403, "other_origin"),
        ({"Sec-Fetch-Site": "cross-site"}, 403, "other_origin"),
        ({"Sec-Fetch-Site": "same-site"}, 403, "other_origin"),
    ],
)
def test_requests_from_other_places_are_refused(
    school: School, eng: TestClient, headers: dict[str, str], status: int, code: str
) -> None:
    answer = eng.post(school.rounds, json=TASK, headers=headers)
    demand(answer, status, code, None)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("key", ["", " ", "a b", "a\tb", "ä", "k" * 201, "a\x00b"])
def test_a_key_that_is_none_is_refused(school: School, eng: TestClient, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}
    answer = eng.post(school.rounds, json=TASK, headers=headers)
    demand(answer, 422, "invalid", "Idempotency-Key")


def test_a_key_brings_back_no_other_request_and_nobody_elses(
    school: School, eng: TestClient
) -> None:
    headers = {"Idempotency-Key": "'; DROP TABLE answers; --".replace(" ", "+")}
    first = eng.post(school.rounds, json=TASK, headers=headers).json()
    assert eng.post(school.rounds, json=TASK, headers=headers).json() == first
    other = eng.post(school.rounds, json=TASK | {"context": "x"}, headers=headers)
    demand(other, 409, "key_reused", "Idempotency-Key")
    theirs = school.clients["adm"].post(school.rounds, json=TASK, headers=headers)
    assert theirs.json()["round"] != first["round"]


@pytest.mark.usefixtures("unchanged")
def test_a_method_cannot_be_overridden(school: School, ada: TestClient) -> None:
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        answer = ada.get(f"{school.rounds}/1/description", headers={header: "DELETE"})
        demand(answer, 405, "method_not_allowed", None)
        answer = ada.post(
            f"{school.rounds}/1/description?_method=DELETE", headers={header: "DELETE"}
        )
        demand(answer, 405, "method_not_allowed", None)


def test_tokens_that_do_not_count_are_refused(school: School) -> None:
    secret = school.token("eng")
    row, revoked = tokens.make(school.database, school.people["eng"].id, "gone")
    expired = school.token("eng", lasts=-1.0)
    tokens.revoke(school.database, row.id)
    before = school.state()
    bad = [revoked, expired, secret[:-1], secret + "x", secret.upper(), "tb_", "", "x" * 10_000]
    bad += ["tb_' OR 1=1 --", "undefined", "null", "Bearer", secret[3:]]
    for token in bad:
        answer = school.client(token or "x").post(school.rounds, json=TASK)
        demand(answer, 401, "not_signed_in", None)
        assert answer.headers["www-authenticate"] == "Bearer"
    for scheme in ("Basic", "Token", "Digest"):
        answer = school.client().post(
            school.rounds, json=TASK, headers={"Authorization": f"{scheme} {secret}"}
        )
        demand(answer, 401, "not_signed_in", None)
    in_the_address = school.client().post(f"{school.rounds}?token={secret}", json=TASK)
    demand(in_the_address, 401, "not_signed_in", None)
    assert school.state() == before


def test_a_token_stops_at_once_when_it_is_revoked(school: School) -> None:
    row, secret = tokens.make(school.database, school.people["ben"].id, "short")
    client = school.client(secret)
    assert client.get(f"{API}/me").status_code == 200
    assert school.clients["adm"].delete(f"{API}/tokens/{row.id}").status_code == 204
    demand(client.get(f"{API}/me"), 401, "not_signed_in", None)


def test_a_session_that_was_planted_is_worth_nothing(school: School) -> None:
    client = school.client()
    client.cookies.set("tellback-session", "planted-by-somebody-else")
    demand(client.get(f"{API}/me"), 401, "not_signed_in", None)
    own = {"Origin": "http://localhost"}
    signed = client.post(f"{API}/login", json={"name": "ben", "password": PASSWORD}, headers=own)
    assert signed.status_code == 200
    fresh = signed.cookies["tellback-session"]
    assert fresh != "planted-by-somebody-else"
    planted = school.client()
    planted.cookies.set("tellback-session", "planted-by-somebody-else")
    demand(planted.get(f"{API}/me"), 401, "not_signed_in", None)
    again = school.client()
    again.cookies.set("tellback-session", fresh)
    demand(again.post(f"{API}/lessons/{school.words}/claims"), 403, "other_origin", None)
    again.post(f"{API}/login", json={"name": "ben", "password": PASSWORD}, headers=own)
    demand(_with_session(school, fresh).get(f"{API}/me"), 401, "not_signed_in", None)


def _with_session(school: School, secret: str) -> TestClient:
    client = school.client()
    client.cookies.set("tellback-session", secret)
    return client


def test_a_session_that_has_ended_is_refused(school: School) -> None:
    secret = sessions.create(school.database, school.people["ada"].id)
    with school.database.write() as connection:
        connection.execute(update(tables.sessions).values(expires=time.time() - 1))
    demand(_with_session(school, secret).get(f"{API}/me"), 401, "not_signed_in", None)


FOR_ENGINEERS = [
    ("POST", "/lessons", {"name": "x", "dim": 2}, "engineer"),
    ("POST", "/lessons/import?name=x", {"text": "x"}, "engineer"),
    ("PATCH", "/lessons/{lesson}", {"name": "x"}, "engineer"),
    ("DELETE", "/lessons/{lesson}?word=delete", None, "admin"),
    ("POST", "/lessons/{lesson}/rounds", TASK, "engineer"),
    ("GET", "/lessons/{lesson}/rounds/1", None, "reviewer"),
    ("POST", "/lessons/{lesson}/rollback", {"to": 0}, "engineer"),
    ("GET", "/lessons/{lesson}/export", None, "engineer"),
    ("POST", "/lessons/{lesson}/replay", {"agent": {"kind": "loril"}}, "engineer"),
    ("GET", "/lessons/{lesson}/webhooks", None, "engineer"),
    ("POST", "/lessons/{lesson}/webhooks", {"url": "https://example.org/"}, "engineer"),
    ("GET", "/tokens", None, "engineer"),
    ("POST", "/tokens", {"name": "x"}, "engineer"),
    ("GET", "/accounts", None, "admin"),
    ("POST", "/accounts", {"name": "x", "role": "admin", "password": PASSWORD}, "admin"),
]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(("method", "path", "body", "role"), FOR_ENGINEERS)
def test_a_teacher_is_kept_from_what_others_may_do(
    school: School, ada: TestClient, method: str, path: str, body: Any, role: str
) -> None:
    place = API + path.format(lesson=school.words)
    says = demand(ada.request(method, place, json=body), 403, "forbidden", None)
    assert role in says


def test_nobody_makes_themselves_more_than_they_are(school: School, eng: TestClient) -> None:
    admin, engineer = school.people["adm"], school.people["eng"]
    before = school.state()
    raised = eng.patch(f"{API}/accounts/{engineer.id}", json={"role": "admin"})
    demand(raised, 403, "forbidden", None)
    borrowed = eng.post(f"{API}/tokens", json={"name": "x", "account": admin.id})
    demand(borrowed, 403, "forbidden", None)
    demand(eng.get(f"{API}/tokens?everybody=true"), 403, "forbidden", None)
    assert school.state() == before


def test_another_teachers_round_is_left_alone(
    school: School, ada: TestClient, ben: TestClient
) -> None:
    number = claimed(school, ada)
    place = f"{school.rounds}/{number}"
    before = school.state()
    told = ben.put(f"{place}/description", json={"description": "mine now"})
    demand(told, 409, "claimed", None)
    demand(ben.put(f"{place}/outcome", json={"outcome": "flagged"}), 409, "claimed", None)
    demand(ben.put(f"{place}/claim"), 404, "not_found", None)
    assert ben.delete(f"{place}/description").json()["withdrawn"] is False
    assert school.state() == before
    assert ada.put(f"{place}/description", json={"description": "went left"}).status_code == 200
    before = school.state()
    told = ben.put(f"{place}/description", json={"description": "mine now"})
    demand(told, 409, "described", None)
    demand(ben.delete(f"{place}/description"), 409, "not_yours", None)
    demand(ben.put(f"{place}/outcome", json={"outcome": "skipped"}), 409, "described", None)
    demand(ben.put(f"{place}/claim"), 404, "not_found", None)
    assert school.state() == before


@pytest.mark.usefixtures("unchanged")
def test_a_round_that_nobody_was_given_cannot_be_described(school: School, ben: TestClient) -> None:
    latest = school.clients["adm"].get(f"{API}/lessons/{school.words}").json()["rounds"]
    place = f"{school.rounds}/{latest + 1}"
    demand(ben.put(f"{place}/description", json={"description": "x"}), 404, "not_found", None)
    demand(ben.delete(f"{place}/description"), 404, "not_found", None)
    demand(ben.put(f"{place}/outcome", json={"outcome": "skipped"}), 404, "not_found", None)
    demand(ben.put(f"{place}/check", json={"response": 0}), 404, "not_found", None)


def test_a_pick_beyond_the_responses_is_refused(
    school: School, ada: TestClient, ben: TestClient
) -> None:
    number = claimed(school, ada)
    ada.put(f"{school.rounds}/{number}/description", json={"description": "went left"})
    before = school.state()
    for picked in (2, 99_999):
        answer = ben.put(f"{school.rounds}/{number}/check", json={"response": picked})
        demand(answer, 422, "invalid", "response")
    assert school.state() == before


def test_no_teacher_learns_what_was_asked_before_describing(
    school: School, ada: TestClient, ben: TestClient
) -> None:
    secret = "fetch the violet umbrella"
    eng = school.clients["eng"]
    lesson = eng.post(
        f"{API}/lessons", json={"name": "Secrets", "dim": 2, "second_share": 1.0}
    ).json()["id"]
    place = f"{API}/lessons/{lesson}"
    number = eng.post(f"{place}/rounds", json=TASK | {"instruction": secret}).json()["round"]

    def seen_by(client: TestClient) -> str:
        seen = []
        for path, methods in school.app.openapi()["paths"].items():
            if "get" not in methods or path.endswith("/updates"):
                continue
            known = {"lesson": lesson, "round": number, "index": 0, "account": "0" * 20}
            seen.append(client.get(path.format(**known)).text)
        for action in ("claims", "checks"):
            seen.append(client.post(f"{place}/{action}").text)
        for page in ("", f"teach/{lesson}", f"ask/{lesson}", f"progress/{lesson}"):
            seen.append(client.get(f"/{page}").text)
        seen.append(client.put(f"{place}/rounds/{number}/outcome", json={}).text)
        return "\n".join(seen)

    assert "umbrella" not in seen_by(ada)
    assert "umbrella" not in seen_by(ben)  # who would be second
    told = ada.put(f"{place}/rounds/{number}/description?effect=true", json={"description": "it"})
    assert told.json()["asked"] == secret  # only now
    assert told.json()["effect"]["changes"] == []
    assert "umbrella" not in seen_by(ben)
    other = ben.put(f"{place}/rounds/{number}/description", json={"description": "it"})
    assert (other.json()["second"], other.json()["asked"]) == (True, secret)
