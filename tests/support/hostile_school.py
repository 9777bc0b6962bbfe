"""A classroom under attack: accounts of every role, a lesson of sentences and one of pictures."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from tellback.classroom.learning.pictures import png_of
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, passwords, tables, tokens
from tellback.classroom.web.app import create_app

API = "/api/v1"
LARGEST = 12 * 2**20
PASSWORD = "correct horse battery"
SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'"
TASK = {"instruction": "go left", "features": [[0.0, 1.0], [1.0, 0.0]]}
PICTURE = base64.b64encode(png_of(np.zeros((200, 200, 3), dtype=np.uint8))).decode()


class School:
    """A classroom with accounts, a lesson of sentences and one of pictures."""

    def __init__(self, folder: Path) -> None:
        database = f"sqlite:///{folder / 'school.db'}"
        self.app = create_app(Settings(database, requests_a_minute=0, largest_body=LARGEST))
        self.database = self.app.state.classroom.database
        self.people = {
            name: accounts.add(self.database, name, role, PASSWORD)
            for name, role in [
                ("ada", "teacher"),
                ("ben", "teacher"),
                ("rev", "reviewer"),
                ("eng", "engineer"),
                ("adm", "admin"),
            ]
        }
        self.clients = {name: self.client(self.token(name)) for name in self.people}
        made = [{"name": "Words", "dim": 2}, {"name": "Pictures", "candidates": "images"}]
        self.words, self.pictures = [
            self.clients["eng"].post(f"{API}/lessons", json=lesson).json()["id"] for lesson in made
        ]
        self.rounds = f"{API}/lessons/{self.words}/rounds"

    def token(self, name: str, lasts: float | None = None) -> str:
        return tokens.make(self.database, self.people[name].id, "test", lasts)[1]

    def client(self, token: str | None = None) -> TestClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return TestClient(
            self.app,
            base_url="http://localhost",
            headers=headers,
            raise_server_exceptions=False,
            follow_redirects=False,
        )

    def state(self) -> str:
        """All that is kept, in a word."""
        found = hashlib.sha256()
        with self.database.read() as connection:
            for table in tables.metadata.sorted_tables:
                for row in connection.execute(select(table).order_by(*table.primary_key)):
                    found.update(repr(tuple(row)).encode())
        return found.hexdigest()


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    patch = pytest.MonkeyPatch()
    patch.setattr(passwords, "COST", passwords.Cost(2, 8, 1))
    school = School(tmp_path_factory.mktemp("school"))
    yield school
    school.app.state.classroom.database.close()
    patch.undo()


@pytest.fixture
def eng(school: School) -> TestClient:
    return school.clients["eng"]


@pytest.fixture
def ada(school: School) -> TestClient:
    return school.clients["ada"]


@pytest.fixture
def ben(school: School) -> TestClient:
    return school.clients["ben"]


@pytest.fixture
def unchanged(school: School) -> Iterator[None]:
    before = school.state()
    yield
    assert school.state() == before


def demand(answer: Any, status: int, code: str, field: str | None) -> str:
    """Demand a refusal, and hand out what it says."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["code"], problem["field"], problem["status"]) == (code, field, status)
    detail: str = problem["detail"]
    return detail


def ask(school: School, **changes: Any) -> int:
    answer = school.clients["eng"].post(school.rounds, json=TASK | changes)
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["round"]
    return number


def claimed(school: School, client: TestClient) -> int:
    """A round that a teacher has been given."""
    ask(school)
    answer = client.post(f"{API}/lessons/{school.words}/claims")
    number: int = answer.json()["round"]
    return number


def post_raw(client: TestClient, path: str, body: bytes, **headers: str) -> Any:
    kind = {"content-type": "application/json"} | headers
    return client.post(path, content=body, headers=kind)


def task_with(features: str, instruction: str = '"a"') -> bytes:
    return f'{{"instruction":{instruction},"features":{features}}}'.encode()
