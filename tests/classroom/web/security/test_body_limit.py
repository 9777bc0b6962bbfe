"""How large a request may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tellback.classroom.settings import Settings
from tellback.classroom.store.database import Database
from tests.support.accounts_app import app_of, client_of, code


def sent(client: Any, path: str, size: int, chunked: bool) -> Any:
    def parts() -> Iterator[bytes]:
        for start in range(0, size, 300):
            yield b"x" * min(300, size - start)

    return client.post(path, content=parts() if chunked else b"x" * size)


@pytest.mark.parametrize("chunked", [False, True])
def test_only_tasks_and_imports_have_large_bodies(
    settings: Settings, database: Database, chunked: bool
) -> None:
    client = client_of(app_of(settings, database))
    for path in ("login", "lessons/x/size"):
        answer = sent(client, f"/api/v1/{path}", 2**16 + 1, chunked)
        assert code(answer) == (413, "too_large")
        assert sent(client, f"/api/v1/{path}", 2**16, chunked).status_code != 413
    for path in ("rounds", "preview", "import"):
        answer = sent(client, f"/api/v1/lessons/x/{path}", 2**16 + 1, chunked)
        assert answer.status_code != 413


@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_may_have_so_many_bytes_and_no_more(
    settings: Settings, database: Database, chunked: bool
) -> None:
    client = client_of(app_of(replace(settings, largest_body=1000), database))

    def send(path: str, size: int) -> Any:
        return sent(client, path, size, chunked)

    assert send("/api/v1/lessons/x/size", 1000).json() == 1000
    assert code(send("/api/v1/lessons/x/size", 1001)) == (413, "too_large")
    assert send("/api/v1/lessons/x/import", 10_000).json() == 10_000
    assert code(send("/api/v1/lessons/x/import", 10_001)) == (413, "too_large")
    assert code(send("/api/v1/login", 1001)) == (413, "too_large")
