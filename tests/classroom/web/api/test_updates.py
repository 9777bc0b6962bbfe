"""Updates of a lesson, as server-sent events."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import Request
from starlette.types import Message

from tellback.classroom.web.api import updates
from tellback.classroom.web.security.callers import Caller, Role
from tests.support.api_room import Room


async def _listening() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


def test_updates_end_when_the_token_is_revoked(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(updates, "LONGEST_SECONDS", 20)
    lesson = room.lesson()
    token = room.done("POST", "/tokens", json={"name": "robot"})
    headers = [(b"authorization", f"Bearer {token['secret']}".encode())]
    scope = {"type": "http", "headers": headers, "app": room.http.app}
    caller = Caller(room.ids["eng"], "eng", Role.ENGINEER)

    async def after_the_end() -> list[str]:
        request = Request(scope, _listening)
        stream = updates._updates(request, room.inside, room.inside.learner(lesson), caller)
        await anext(stream)
        assert "event: update" in await anext(stream)
        room.ask(lesson)
        assert "id: 1" in await anext(stream)
        room.done("DELETE", f"/tokens/{token['id']}")
        room.ask(lesson)
        return [one async for one in stream]

    assert asyncio.run(after_the_end()) == []
