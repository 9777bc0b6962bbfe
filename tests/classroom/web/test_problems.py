"""Codes of problems."""

from __future__ import annotations

import ast
from pathlib import Path

from fastapi import FastAPI
from fastapi.testclient import TestClient

import tellback.classroom
from tellback.classroom.web.problems import TITLES
from tests.support.accounts_app import client_of

RAISED = {"Problem": 1, "conflict": 0, "unauthorized": 0, "ConflictError": 0}
"""What makes a problem, and which of its arguments is the code."""


def _codes() -> set[str]:
    found = set()
    for path in Path(tellback.classroom.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                at = RAISED.get(node.func.id)
                code = node.args[at] if at is not None and len(node.args) > at else None
                if isinstance(code, ast.Constant):
                    found.add(str(code.value))
    return found


def test_every_code_has_a_title_and_every_title_a_code() -> None:
    by_status = {"bad_request", "method_not_allowed"}  # of HTTP errors
    assert _codes() | by_status == set(TITLES)


def test_the_type_of_a_problem_leads_to_its_title(app: FastAPI) -> None:
    client: TestClient = client_of(app)
    problem = client.get("/api/v1/me").json()
    page, _, code = problem["type"].partition("#")
    assert f'<dt id="{code}">' in client.get(page).text
    text = client.get(page).text
    for code, title in TITLES.items():
        assert f'<dt id="{code}">' in text
        assert title.replace("'", "&#39;") in text
