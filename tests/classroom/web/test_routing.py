"""HEAD is answered as GET, without a body."""

from __future__ import annotations

import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tellback.classroom.settings import Settings
from tests.support.classroom_server import running_classroom
from tests.support.patience import PATIENCE


def test_a_connection_goes_on_after_head(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as running:
        there = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=PATIENCE)
        there.connect()
        connection = there.sock
        for path in ("/livez", "/readyz", "/api/v1/lessons", "/", "/nowhere", "/static/dom.js"):
            lengths = []
            for method in ("HEAD", "GET"):
                there.request(method, path)
                answer = there.getresponse()
                lengths.append((answer.status, answer.headers["Content-Length"]))
                assert bool(answer.read()) == (method == "GET")
                assert there.sock is connection  # it would be another after a reset
            assert lengths[0] == lengths[1]
        assert len(running.connections) == 1
        there.close()
    assert not [one for one in caplog.records if one.levelname == "ERROR"]
    assert "RuntimeError" not in capfd.readouterr().err
