"""Every error is a problem document, with the headers of every answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tellback.classroom.settings import Settings
from tellback.classroom.store.database import Database
from tellback.classroom.web.problems import TITLES
from tests.support.accounts_app import (
    MEMBERS,
    PASSWORD,
    PROBLEM_CONTENT,
    app_of,
    client_of,
    code,
)


@pytest.mark.usefixtures("no_time_passes")
def test_every_answer_has_the_headers_that_keep_a_browser_safe(
    settings: Settings, database: Database
) -> None:
    app = app_of(replace(settings, requests_a_minute=7, largest_body=100), database)
    client = client_of(app)
    answers = {
        200: client.get("/login"),
        401: client.get("/api/v1/me"),
        404: client.get("/nowhere"),
        405: client.delete("/login"),
        413: client.post("/api/v1/login", content=b"x" * 101),
        422: client.post("/api/v1/login", json={}),
        500: client.get("/api/v1/fails"),
        403: client.post("/login", headers={"Origin": "null"}),
        421: client.get("/login", headers={"Host": "evil.example"}),
        429: client.get("/login"),
    }
    for status, answer in answers.items():
        assert answer.status_code == status
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "camera=()" in answer.headers["permissions-policy"]
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in answer.headers
        assert answer.headers["x-request-id"]
        if status != 200:
            assert answer.headers["content-type"] == "application/problem+json"
            problem = answer.json()
            assert set(problem) == MEMBERS
            assert problem["status"] == status
            assert problem["type"] == f"/problems#{problem['code']}"
            assert problem["title"] == TITLES[problem["code"]]
            assert answer.headers.get("retry-after") == (
                None if problem["retry_after"] is None else str(problem["retry_after"])
            )
    assert PASSWORD not in answers[500].text


def test_a_method_that_is_not_there_is_told_which_are(client: TestClient) -> None:
    allowed = {"me": "GET, HEAD", "tokens": "GET, HEAD, POST", "tokens/1": "DELETE"}
    for path, methods in allowed.items():
        answer = client.request("PUT", f"/api/v1/{path}")
        assert code(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == methods


def test_the_description_of_the_api_names_tokens_and_every_refusal(app: FastAPI) -> None:
    described = app.openapi()
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path in ("/api/v1/me", "/api/v1/accounts", "/api/v1/tokens"):
        endpoint = described["paths"][path]["get"]
        assert endpoint["security"] == [{"token": []}]
        assert {"400", "401", "403", "413", "421", "429"} <= set(endpoint["responses"])
    endpoint = described["paths"]["/api/v1/login"]["post"]
    assert "security" not in endpoint
    assert endpoint["responses"]["422"]["content"] == PROBLEM_CONTENT
    assert set(described["components"]["schemas"]["ProblemDocument"]["required"]) == MEMBERS
    assert "/login" not in described["paths"]
