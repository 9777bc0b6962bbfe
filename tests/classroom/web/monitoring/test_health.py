"""Health and metrics."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.exc import OperationalError

from tests.support.api_room import Room


def test_a_process_is_ready_while_its_database_answers_and_live_without_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("/livez", "/readyz", "/healthz"):
        assert room.http.get(path).json() == {"status": "ok"}

    def gone(*_: object) -> None:
        raise OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(room.inside.database, "read", gone)
    statuses = [room.http.get(path).status_code for path in ("/livez", "/readyz", "/healthz")]
    assert statuses == [200, 503, 503]


def test_metrics_are_for_admins_and_count_by_route(room: Room) -> None:
    lesson = room.taught(1)
    room.ask(lesson)
    assert room.http.get("/metrics").status_code == 401
    assert room.http.get("/metrics", headers=room.engineer).status_code == 403
    told = room.http.get("/metrics", headers=room.admin).text
    route = "/api/v1/lessons/{lesson}/rounds"  # as in the log
    assert f'tellback_requests_total{{method="POST",route="{route}",status="201"}}' in told
    assert lesson not in told
    assert 'tellback_request_seconds_bucket{le="0.1"' in told
    for name in ("descriptions", "open_rounds", "outbox_backlog", "leases_held"):
        assert f"\ntellback_{name} " in told


def test_metrics_can_be_read_on_the_machine_itself_but_not_through_a_proxy(room: Room) -> None:
    app = room.http.app
    local = TestClient(app, base_url="http://localhost", client=("127.0.0.1", 4000))
    assert local.get("/metrics").status_code == 200
    through = local.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"})
    assert through.status_code == 401
    local.close()
