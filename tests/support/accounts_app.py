"""A small app with accounts, for tests of signing in and of everything around it."""

from __future__ import annotations

import io
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI, Request
from fastapi.testclient import TestClient

from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, login_attempts, passwords
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.web.api import accounts as accounts_api
from tellback.classroom.web.api import sessions as sessions_api
from tellback.classroom.web.api import tokens as tokens_api
from tellback.classroom.web.app import add_middleware
from tellback.classroom.web.monitoring import request_log
from tellback.classroom.web.pages import public_pages
from tellback.classroom.web.problem_handlers import DescribedApp
from tellback.classroom.web.security import rate_limits
from tellback.classroom.web.security.authentication import needs
from tellback.classroom.web.security.callers import Caller, Role

PASSWORD = "correct horse battery"
SMALL = passwords.Cost(2, 8, 1)
COOKIE = "tellback-session"
ORIGIN = "http://localhost:8000"
PROBLEM_CONTENT = {
    "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
}
MEMBERS = {"type", "title", "status", "detail", "code", "field", "retry_after"}


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "COST", SMALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and nothing in them, to be copied."""
    path = tmp_path_factory.mktemp("made") / "classroom.db"
    open_database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "classroom.db"
    path.write_bytes(made.read_bytes())
    database = Database(f"sqlite:///{path}")
    yield database
    database.close()


@pytest.fixture
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine buckets would fill up again while a test empties them."""
    monkeypatch.setattr(rate_limits, "monotonic", lambda: 0.0)
    now = time.time()
    monkeypatch.setattr(login_attempts, "time", SimpleNamespace(time=lambda: now))


@pytest.fixture
def settings(database: Database) -> Settings:
    return Settings(str(database))


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = request_log.log_to(stream)
    yield stream
    request_log.logger.removeHandler(handler)


def app_of(settings: Settings, database: Database, shared: Path | None = None) -> FastAPI:
    app = DescribedApp(openapi_url=None)
    app.state.classroom = SimpleNamespace(settings=settings, database=database)
    add_middleware(app, settings, shared)
    for module in (sessions_api, accounts_api, tokens_api):
        app.include_router(module.router, prefix="/api/v1")
    app.include_router(public_pages.router)

    @app.get("/api/v1/fails")
    def fails() -> None:
        raise RuntimeError(PASSWORD)

    @app.post("/api/v1/lessons/{lesson}/size")
    async def size(lesson: str, request: Request) -> int:
        return len(await request.body())

    @app.post("/api/v1/lessons/{lesson}/import")
    async def imported(lesson: str, request: Request) -> int:
        return len(await request.body())

    @app.get("/api/v1/review")
    def review(caller: Annotated[Caller, Depends(needs(Role.REVIEWER))]) -> str:
        return caller.name

    return app


def client_of(app: FastAPI, **options: Any) -> TestClient:
    return TestClient(app, base_url="http://localhost:8000", **options)


@pytest.fixture
def app(settings: Settings, database: Database) -> FastAPI:
    return app_of(settings, database)


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return client_of(app)


def add(database: Database, name: str, role: Role = Role.TEACHER) -> accounts.Account:
    return accounts.add(database, name, role, PASSWORD)


def sign_in(client: TestClient, name: str, password: str = PASSWORD, **more: Any) -> Any:
    return client.post("/api/v1/login", json={"name": name, "password": password}, **more)


def signed_in(app: FastAPI, name: str) -> TestClient:
    """A browser whose user has signed in, and whose pages send along what they must."""
    client = client_of(app)
    answer = sign_in(client, name)
    assert answer.status_code == 200, answer.text
    client.headers["Origin"] = ORIGIN
    return client


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]
