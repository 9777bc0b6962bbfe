"""Every sample of the page on the API is sent to a classroom, and the answers are compared."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tellback.classroom.client import (
    AsyncClient,
    AsyncLesson,
    AsyncRound,
    Client,
    RemoteLesson,
    RemoteRound,
)
from tellback.classroom.learning.pictures import LARGEST_PICTURE, MOST_PIXELS
from tellback.classroom.settings import Settings
from tellback.classroom.web.app import create_app
from tests.test_docs import ROOT, resembles

PAGE = (ROOT / "docs" / "howto" / "api.md").read_text()
HOST = "http://127.0.0.1:8765"
ID = "0f3c..."
"""The lesson's id on the page."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """The commands of the page, each with the answer below it."""
    found = []
    for block in blocks("console"):
        for part in block.replace("\\\n", " ").split("$ ")[1:] if block.startswith("$ ") else []:
            command, _, answer = part.partition("\n")
            found.append((command, answer.strip()))
    return found


def rows() -> list[tuple[str, str]]:
    """The requests of the table, each with its body."""
    table = re.search(r"\| to \| send \|\n\|---\|---\|\n(.*?)\n\n", PAGE, flags=re.DOTALL)
    assert table is not None
    request = re.compile(r"`((?:GET|POST|PUT|DELETE) [^`]+)`(?: `(\{[^`]+\})`)?")
    return request.findall(table.group(1))


class Shell:
    """As much of a shell and of curl as the page uses."""

    def __init__(self, http: TestClient) -> None:
        self.http = http
        self.names: dict[str, str] = {}
        self.id = ID

    def filled(self, text: str) -> str:
        text = text.replace(ID, self.id)
        return re.sub(r"\$([A-Z]+)", lambda name: self.names[name.group(1)], text)

    def run(self, command: str) -> str:
        words = shlex.split(self.filled(command))
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self.names[name] = value
            return ""
        assert words[:2] == ["curl", "-s"]
        options: dict[str, list[str]] = {"-d": [], "-H": [], "-X": []}
        plain = []
        rest = iter(words[2:])
        for word in rest:
            if word in options:
                options[word].append(next(rest))
            else:
                plain.append(word)
        body = "".join(options["-d"])
        method = (options["-X"] or ["POST" if body else "GET"])[0]
        headers = dict(one.split(": ", 1) for one in options["-H"])
        answer = self.http.request(method, plain[0], content=body, headers=headers)
        assert answer.is_success, (command, answer.text)
        if plain[0].endswith("/lessons"):
            self.id = answer.json()["id"]
        return answer.text


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell in which all commands of the page ran, in order."""
    database = f"sqlite:///{tmp_path}/lessons.db"
    settings = Settings(database, accounts=False, requests_a_minute=0, private_webhooks=True)
    app = create_app(settings)
    shell = Shell(TestClient(app, base_url=HOST))
    for command, expected in commands():
        answer = shell.run(command)
        assert resembles(answer, expected.replace(ID, shell.id)), (command, answer)
    yield shell
    app.state.classroom.database.close()


def test_the_commands_of_the_page_answer_as_it_says(shell: Shell) -> None:
    assert len(commands()) >= 5
    assert shell.names["LESSON"].endswith(shell.id)


def test_the_requests_of_the_table_succeed(shell: Shell) -> None:
    assert len(rows()) >= 9
    line = next(block for block in blocks("json") if "instruction" in block)
    for request, body in rows():
        method, _, place = shell.filled(request.replace("ACCOUNT", "you")).partition(" ")
        sent = body or (line if place.endswith("/import") else "")
        kind = {"Content-Type": "application/json"} if body else {}
        answer = shell.http.request(method, place, content=sent, headers=kind)
        assert answer.is_success, (request, answer.text)


def test_a_client_with_an_event_loop_has_the_methods_of_the_other() -> None:
    for one, other in (
        (Client, AsyncClient),
        (RemoteLesson, AsyncLesson),
        (RemoteRound, AsyncRound),
    ):
        assert _public(one) == _public(other)


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if name[0] != "_"}


def test_the_page_names_the_limits_of_pictures() -> None:
    assert f"of {LARGEST_PICTURE:,} pixels each and {MOST_PIXELS:,} together" in PAGE


def test_the_problem_of_the_page_is_one_that_the_service_sends(shell: Shell) -> None:
    shown = json.loads(next(block for block in blocks("json") if "problems#" in block))
    answer = shell.http.post("/api/v1/lessons", json={"name": "lamp"})
    assert answer.json() == shown


def test_options_of_an_export_on_the_page_are_options_of_the_service(shell: Shell) -> None:
    for format in ("jsonl", "parquet", "log", "chat", "recording"):
        assert format in PAGE
        answer: Any = shell.http.get(shell.filled("$LESSON/export"), params={"format": format})
        assert answer.is_success
