"""Where a webhook may point."""

from __future__ import annotations

import socket

import pytest
from fastapi.testclient import TestClient

from tellback.classroom.web.webhooks import addresses
from tellback.errors import FieldError, TellbackError
from tests.support.api_room import Room, _kept_lesson
from tests.support.hostile_school import School, demand


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "example.org",
        "http://",
        "http://user:password@example.org/",
        "http://example.org:99999/",
        "http://example.org/#part",
        "http://example.org/a b",
        "http://exämple.org/",
        "file:///etc/passwd",
        "http://[fe80::1%25lo]/",
    ],
)
def test_a_hook_must_be_a_web_address(room: Room, url: str) -> None:
    answer = room.send("POST", f"/lessons/{_kept_lesson(room)}/webhooks", json={"url": url})
    assert (answer.status_code, answer.json()["field"]) == (422, "url")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fc00::1]",
        "[fec0::1]",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[3fff::1]",
        "192.88.99.1",
    ],
)
def test_a_hook_must_lead_to_the_public_internet(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TellbackError, match="public"):
        addresses.checked_url(f"http://{host}/", private=False)
    assert addresses.checked_url(f"http://{host}/", private=True)
    # A name that leads there is found out when it is resolved, whatever else it leads to.
    where = host.strip("[]") if "." in host or ":" in host else "127.0.0.1"
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (a, 80)) for a in ("93.184.215.14", where)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(TellbackError, match="public"):
        addresses.resolved("http://innocent.example/", private=False)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found[:1])
    url, name = addresses.resolved("https://innocent.example/x?y=1", private=False)
    assert (url, name) == ("https://93.184.215.14:443/x?y=1", "innocent.example")
    assert addresses.checked_url("https://innocent.example/", private=False)


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "localhost.", "ip6-localhost"])
def test_a_hook_to_this_machine_by_name_is_refused_when_it_is_made(
    school: School, eng: TestClient, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    here = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: here)
    path = f"/api/v1/lessons/{school.words}/webhooks"
    answer = eng.post(path, json={"url": f"http://{host}:8000/told"})
    assert "public internet" in demand(answer, 422, "invalid", "url")


def test_a_hook_to_a_name_without_an_address_is_accepted_unless_it_is_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nowhere(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    for host in ("localhost.", "LocalHost", "my.localhost", "localhost.localhost."):
        with pytest.raises(FieldError, match="public internet"):
            addresses.checked_url(f"https://{host}/told", private=False)
    url = "https://soon.example/told"
    assert addresses.checked_url(url, private=False) == url
    with pytest.raises(TellbackError, match="no address"):
        addresses.resolved(url, private=False)
