"""The API does what its OpenAPI description says, whatever it is sent (schemathesis)."""

from __future__ import annotations

import base64
import json
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import requests
import schemathesis
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.pictures import png_of
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, passwords, tokens
from tellback.classroom.store.descriptions import describe
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import Known, change_round
from tellback.classroom.store.webhooks import create_webhook
from tellback.classroom.web.app import create_app
from tellback.matching import Same
from tests.support.searching import at_length

CHECKS_OF_ANSWERS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
CHECKS = [*CHECKS_OF_ANSWERS, negative_data_rejection]
ENDLESS = ["/api/v1/lessons/{lesson}/updates"]
"""Streams that end when the caller goes away."""

ROUNDS = 8
TO_CHECK, CLAIMED = 7, 8
PICTURE = base64.b64encode(png_of(np.zeros((200, 200, 3), dtype=np.uint8))).decode()
LINE = '{"instruction": "a", "features": [[0, 1]], "response": 0}'
PASSWORD = "a password of hers"
HERS = {"name": "head", "password": PASSWORD, "current": PASSWORD, "new": PASSWORD}


PLAYED = {"instruction": "go left", "features": [[0.0, 1.0]], "response": 0}


OWN = '{"text": "one"}\n{"text": "two"}\n'
OWN_TABLE = "text\none\ntwo\n"


@schemathesis.serializer("application/jsonl", "text/csv")
def lines(_: object, value: object) -> bytes:
    """A log as it is sent: text goes as it is, all else as a line."""
    return value.encode() if isinstance(value, str) else json.dumps(value, default=str).encode()


class School:
    """A classroom with a lesson whose rounds are open, described and skipped."""

    url: str

    def __init__(self, folder: Path) -> None:
        self._open(folder)
        room = self.app.state.classroom
        self.admin = accounts.add(room.database, HERS["name"], "admin", HERS["password"])
        self.token = tokens.make(room.database, self.admin.id, "schemathesis")
        self.bearer = {"Authorization": f"Bearer {self.token[1]}"}
        self.pupil = accounts.add(room.database, "pupil", "engineer", "a password of his")
        client = TestClient(self.app, base_url="http://localhost", headers=self.bearer)
        words = {"name": "Words", "dim": 2, "second_share": 0.5}
        pictures = {"name": "Pictures", "candidates": "images"}
        self.lessons = [
            client.post("/api/v1/lessons", json=lesson).json()["id"] for lesson in (words, pictures)
        ]
        tasks: tuple[dict[str, Any], ...] = (
            {"features": [[0.0, 1.0], [1.0, 0.0]]},
            {"images": [PICTURE, PICTURE]},
        )
        for lesson, task in zip(self.lessons, tasks, strict=True):
            rounds = f"/api/v1/lessons/{lesson}/rounds"
            for number in range(1, ROUNDS + 1):
                asked = client.post(rounds, json={"instruction": "go left", **task})
                assert asked.json()["round"] == number
            client.put(f"{rounds}/1/description", json={"description": "went left"})
            client.put(f"{rounds}/2/outcome", json={"outcome": "skipped"})
            self._prepare_rounds(lesson)
        room.database.close()

    def _open(self, folder: Path) -> None:
        self.folder = folder
        database = f"sqlite:///{folder / 'school.db'}"
        self.app = create_app(Settings(database, requests_a_minute=0, largest_body=2**20))
        self.app.state.login_limiter.demand = lambda name, address: None
        self.session = requests.Session()
        self.succeeded: set[str] = set()

    def copied(self, folder: Path) -> School:
        """The same once more: what is done in it changes nothing here."""
        found = copy(self)
        found._open(shutil.copytree(self.folder, folder))
        return found

    def _prepare_rounds(self, lesson: str) -> None:
        with writing(self.app.state.classroom.database, lesson) as log:
            describe(log, TO_CHECK, self.pupil.id, "went on", Same(), anyones=True)
            change_round(log, TO_CHECK, wants_second=False)
            change_round(log, CLAIMED, claimed_by=self.admin.id, claimed_until=2.0**33)

    def fit(self, case: Case[Any]) -> None:
        """Let a request be about what is there; schemathesis would never guess it."""
        known = case.path_parameters or {}
        if _proper(known.get("lesson")):
            known["lesson"] = self.lessons["index" in known]
            if case.operation.label == "DELETE /api/v1/lessons/{lesson}":
                created = self.app.state.classroom.create("to delete", Definition(dim=2))
                known["lesson"] = created.id
        if str(known.get("index")).isdecimal():
            known["index"] = int(known["index"]) % 2
        if isinstance(known.get("round"), int) and known["round"] >= 1:
            last = case.operation.path.rpartition("/")[2]
            kept = {"check": TO_CHECK, "judgement": TO_CHECK, "claim": CLAIMED}
            others = ROUNDS - len(set(kept.values()))
            known["round"] = kept.get(last, 1 + known["round"] % others)
            if case.operation.label.startswith("DELETE") and last == "known":
                item = Known(("went left",))
                learner = self.app.state.classroom.learner(known["lesson"])
                known["round"] = learner.copy_as_known(1, item, self.pupil.id).number
        for name in ("account", "teacher"):
            if known.get(name) == "0":  # the simplest
                known[name] = self.pupil.id
        database = self.app.state.classroom.database
        if known.get("webhook") == "0" * 20 and known.get("lesson") in self.lessons:
            with writing(database, known["lesson"]) as log:
                known["webhook"] = create_webhook(log, "https://told.invalid/").id
        if known.get("token") == "0" * 20:
            known["token"] = tokens.make(database, self.pupil.id, "one")[0].id
        self._fit_body(case)

    def _fit_body(self, case: Case[Any]) -> None:
        if case.operation.path.endswith("/import"):
            case.body = LINE if case.body == "" else case.body
        own = case.operation.path == "/api/v1/lessons/import"
        proper = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
        if proper and case.operation.path.endswith("/import"):
            case.body = json.dumps(PLAYED)
            if own:
                case.body = OWN_TABLE if (case.query or {}).get("format") == "csv" else OWN
        if not proper or not isinstance(case.body, dict):
            return
        path = case.operation.path
        if path.endswith(("/rounds", "/preview")):
            case.body["features"] = [[0.5, -0.5]] * 3
            for name in ("texts", "images", "round"):
                case.body.pop(name, None)
        elif path.endswith(("/login", "/me/password")):
            case.body |= {name: value for name, value in HERS.items() if name in case.body}
        elif path.endswith("/rollback"):
            case.body["to"] = 0
        elif path.endswith("/replay"):
            case.body["agent"] = {"kind": "greedy"}
        elif path.endswith("/webhooks"):
            case.body["url"] = "https://told.invalid/"
        elif path.endswith("/lessons/{lesson}"):
            case.body["archived"] = False  # or nobody could claim in it
        elif path.endswith("/lessons"):
            case.body |= {"agent": None, "encoder": None, "match": None}
            case.body |= {"candidates": "features", "dim": 2}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> School:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", passwords.Cost(2, 8, 1))
        return School(tmp_path_factory.mktemp("school"))


@pytest.fixture
def school(prepared: School, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[School]:
    monkeypatch.setattr("tellback.classroom.store.webhooks.MOST_WEBHOOKS", 1_000_000)
    school = prepared.copied(tmp_path / "school")
    with served(school.app) as school.url, school.session:
        yield school


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address of an app that a real server serves."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def description() -> dict[str, Any]:
    """What the API says of itself."""
    with TemporaryDirectory() as folder:
        app = create_app(Settings(f"sqlite:///{folder}/empty.db"))
        app.state.classroom.database.close()
        return app.openapi()


API = schemathesis.openapi.from_dict(description()).exclude(path=ENDLESS)
API.config.phases.coverage.unexpected_methods = {"trace"}  # one will do
REFUSALS = API.config.checks.negative_data_rejection
REFUSALS.expected_statuses = [*REFUSALS.expected_statuses, "413"]  # too large is wrong, too


def _proper(name: object) -> bool:
    return bool(re.fullmatch("[a-z0-9-]{1,40}", str(name), re.ASCII))


def _stays_wrong(case: Case[Any]) -> bool:
    """Whether what is wrong is in the body or the query; paths and headers are put right."""
    if case.meta is None:
        return False
    wrong = {
        place.value
        for place, part in case.meta.components.items()
        if part.mode is GenerationMode.NEGATIVE
    }
    return bool(wrong) and wrong <= {"body", "query"}


def demand_conformance(case: Case[Any], school: School) -> None:
    """Send a request that the description allows or forbids, mostly about what is there."""
    school.fit(case)
    answer = case.call_and_validate(
        base_url=school.url,
        session=school.session,
        headers=dict(school.bearer),
        checks=CHECKS if _stays_wrong(case) else CHECKS_OF_ANSWERS,
    )
    if 200 <= answer.status_code < 300:
        school.succeeded.add(case.operation.label)


RULES = at_length(
    settings(
        max_examples=10,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
)
OPERATIONS = {
    found.ok().label: found.ok() for found in API.get_all_operations() if isinstance(found, Ok)
}


# Not by schemathesis' own decorator: to it all operations have one id, of which xdist runs one.
@pytest.mark.hypothesis
@pytest.mark.parametrize("label", OPERATIONS)
def test_the_api_does_what_its_description_says(label: str, school: School) -> None:
    """Tried with what the description allows, and with what it does not."""
    operation = OPERATIONS[label]
    modes = [GenerationMode.POSITIVE]
    if operation.body or operation.query:
        modes.append(GenerationMode.NEGATIVE)
    for mode in modes:

        @RULES
        @given(case=operation.as_strategy(generation_mode=mode))
        def one(case: Case[Any]) -> None:
            demand_conformance(case, school)

        one()
    assert label in school.succeeded
