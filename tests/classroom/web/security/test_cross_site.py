"""A real browser shows a page of another origin, and that page can change nothing here."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, sessions, tokens
from tellback.classroom.web.monitoring import request_log
from tests.support.classroom_server import running_classroom
from tests.support.patience import PATIENCE

ATTACKS = {
    "a form": """
        const form = document.createElement("form");
        form.method = "post"; form.action = URL; form.enctype = "text/plain"; form.target = "frame";
        const input = document.createElement("input");
        input.name = '{"name": "stolen", "x": "'; input.value = '"}';
        form.append(input); document.body.append(form); form.submit();
    """,
    "a fetch without CORS": """
        fetch(URL, { method: "POST", mode: "no-cors", credentials: "include", body: BODY });
    """,
    "a fetch with CORS": """
        fetch(URL, { method: "POST", credentials: "include", body: BODY }).catch(() => null);
    """,
    "a beacon": "navigator.sendBeacon(URL, BODY);",
    "a sandboxed frame": """
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-scripts allow-forms";
        const script = "<script>document.forms[0].submit()<" + "/script>";
        frame.srcdoc = `<form method="post" action="${URL}"></form>${script}`;
        document.body.append(frame);
    """,
}


@contextmanager
def site(page: str) -> Iterator[str]:
    """A page at another port of this machine, where browsers send our cookie along."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def answers() -> Iterator[queue.Queue[int]]:
    """The statuses with which the classroom answers POSTs: browsers hide some from pages."""
    found: queue.Queue[int] = queue.Queue()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            fields = getattr(record, "fields", {})
            if fields.get("method") == "POST":
                found.put(fields["status"])

    handler, level = Handler(), request_log.logger.level
    request_log.logger.addHandler(handler)
    request_log.logger.setLevel(logging.INFO)
    yield found
    request_log.logger.removeHandler(handler)
    request_log.logger.setLevel(level)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_page_of_another_origin_changes_nothing(
    browser: Browser, tmp_path: Path, attack: str
) -> None:
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db")
    with running_classroom(settings) as running, browser.new_context() as context:
        database = running.classroom.database
        eng = accounts.add(database, "eng", "engineer", None)
        secret = sessions.create(database, eng.id)
        context.add_cookies([{"name": "tellback-session", "value": secret, "url": running.url}])
        target = f"{running.url}/api/v1/tokens"
        script = f"const URL = '{target}', BODY = '{{\"name\": \"stolen\"}}'; {ATTACKS[attack]}"
        frame = '<iframe name="frame"></iframe>'
        with site(f"<!doctype html><body>{frame}<script>{script}</script>") as elsewhere:
            page = context.new_page()
            with answers() as answered:
                page.goto(elsewhere)
                assert answered.get(timeout=PATIENCE) == 403
        assert tokens.listed(database) == []
        # The same browser may do so from our own page.
        page.goto(f"{running.url}/login")
        made = page.evaluate(
            """async (url) => (await fetch(url, {method: "POST", body: '{"name": "mine"}',
                headers: {"Content-Type": "application/json"}})).status""",
            target,
        )
        assert made == 201
