"""Hostile input: each gets the right refusal, and changes nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from sqlalchemy import select, update

from tellback.classroom.learning.content import png_of
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, passwords, sessions, tables, tokens
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


# What is said stays what it is.


@pytest.mark.parametrize(
    "said",
    [
        SCRIPT,
        "{{ 7 * 7 }} ${7*7} #{7*7}",
        "'; DROP TABLE events; --",
        "a\u200bb\u200fc \u202eevil\u202c \u2066x\u2069",
        "\U0001f3f4\U000e0067 e\u0301 \ufeff",
        "=HYPERLINK(1)",
        "../../etc/passwd %s %n {0}",
    ],
)
def test_what_is_said_is_data_and_is_kept_exactly(
    school: School, ada: TestClient, said: str
) -> None:
    ask(school, context=said, texts=[said, "other"], instruction=said)
    shown = ada.post(f"{API}/lessons/{school.words}/claims")
    assert shown.headers["content-type"] == "application/json"
    assert shown.headers["x-content-type-options"] == "nosniff"
    number = shown.json()["round"]
    told = ada.put(f"{school.rounds}/{number}/description", json={"description": said})
    assert told.status_code == 200
    kept = school.clients["rev"].get(f"{school.rounds}/{number}").json()
    assert kept["description"] == said
    latest = school.clients["rev"].get(f"{school.rounds}/{ask(school, instruction=said)}").json()
    assert latest["instruction"] == said
    ada.put(f"{school.rounds}/{latest['round']}/outcome", json={"outcome": "skipped"})


def test_a_script_as_the_name_of_a_lesson_is_a_name(eng: TestClient) -> None:
    made = eng.post(f"{API}/lessons", json={"name": SCRIPT, "dim": 2})
    assert made.status_code == 201
    assert made.json()["name"] == SCRIPT


@pytest.mark.parametrize("bad", ["\x00", "a\x00b", "\x1b[31m", "\x08", "\x7f", "\x0c"])
@pytest.mark.usefixtures("unchanged")
def test_control_characters_are_refused_everywhere(
    school: School, eng: TestClient, ada: TestClient, bad: str
) -> None:
    text = f"a{bad}b"
    demand(
        eng.post(school.rounds, json=TASK | {"instruction": text}), 422, "invalid", "instruction"
    )
    demand(eng.post(school.rounds, json=TASK | {"context": text}), 422, "invalid", "context")
    demand(eng.post(school.rounds, json=TASK | {"texts": ["a", text]}), 422, "invalid", "texts.1")
    demand(eng.post(f"{API}/lessons", json={"name": text, "dim": 2}), 422, "invalid", "name")
    told = ada.put(f"{school.rounds}/1/description", json={"description": text})
    demand(told, 422, "invalid", "description")
    ended = ada.put(f"{school.rounds}/1/outcome", json={"outcome": "skipped", "note": text})
    demand(ended, 422, "invalid", "note")


@pytest.mark.parametrize("field", ["instruction", "context", "texts.0"])
@pytest.mark.usefixtures("unchanged")
def test_half_a_character_is_refused(school: School, eng: TestClient, field: str) -> None:
    body: dict[str, Any] = TASK | {"texts": ["a", "b"], "context": "c"}
    whole = json.dumps(body).encode()
    old = {"instruction": b'"go left"', "context": b'"c"', "texts.0": b'"a"'}[field]
    answer = post_raw(eng, school.rounds, whole.replace(old, b'"\\ud800"', 1))
    demand(answer, 422, "invalid", field)


# Bodies that are too large, too deep, or no JSON.


@pytest.mark.usefixtures("unchanged")
def test_a_sentence_of_ten_megabytes_is_refused_at_once(
    school: School, eng: TestClient, ada: TestClient
) -> None:
    long = "a" * 10_000_000
    begun = time.process_time()
    demand(
        eng.post(school.rounds, json=TASK | {"instruction": long}), 422, "invalid", "instruction"
    )
    told = ada.put(f"{school.rounds}/1/description", json={"description": long})
    says = demand(told, 422, "invalid", "description")
    assert len(says) < 200
    assert time.process_time() - begun < 5


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_the_limit_is_refused(school: School, eng: TestClient, declared: bool) -> None:
    chunks = [b"[" * 2**20] * 13
    body = b"".join(chunks) if declared else iter(chunks)
    answer = eng.post(school.rounds, content=body, headers={"content-type": "application/json"})
    demand(answer, 413, "too_large", None)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        task_with("[" * 100_000 + "]" * 100_000),
        task_with("[[NaN,1]]"),
        task_with("[[Infinity,1]]"),
        task_with("[[-Infinity,1]]"),
        task_with("[[" + "9" * 5000 + ",1]]"),
        b'{"instruction":"a","instruction":"b","features":[[0,1]]}',
        b'{"instruction":"\xff","features":[[0,1]]}',
        '{"instruction":"a","features":[[0,1]]}'.encode("utf-16"),
        '{"instruction":"a","features":[[0,1]]}'.encode("utf-32"),
        b'\xef\xbb\xbf{"instruction":"a","features":[[0,1]]}',
        b"{'instruction':'a'}",
        b'{"instruction":"a",}',
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.",  # a pickle
        b"--x\r\n",
    ],
)
def test_what_is_no_json_is_refused(school: School, eng: TestClient, body: bytes) -> None:
    assert demand(post_raw(eng, school.rounds, body), 422, "invalid", "body") == (
        "The body is not JSON."
    )


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json"],
)
def test_another_content_type_is_refused(school: School, eng: TestClient, kind: str) -> None:
    answer = post_raw(eng, school.rounds, json.dumps(TASK).encode(), **{"content-type": kind})
    demand(answer, 422, "invalid", "body")


@pytest.mark.usefixtures("unchanged")
def test_compressed_bodies_are_not_unpacked(school: School, eng: TestClient) -> None:
    bomb = gzip.compress(b"[" * 50_000_000, 1)
    answer = post_raw(eng, school.rounds, bomb, **{"content-encoding": "gzip"})
    demand(answer, 422, "invalid", "body")


# Numbers and candidates.


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (task_with("[[1e999,1]]"), "features"),
        (task_with("[[-1e999,1]]"), "features"),
        (task_with("[[1e308,1]]"), "features"),
        (task_with("[[1,-1e13]]"), "features"),
        (task_with("[[" + "9" * 400 + ",1]]"), "features.0.0"),
        (task_with("[[true,1]]"), "features.0.0"),
        (task_with('[["1",1]]'), "features.0.0"),
        (task_with("[[null,1]]"), "features.0.0"),
        (task_with("[[0,1],[1]]"), "features"),
        (task_with("[[0,1],[1,0,0]]"), "features"),
        (task_with("[[0]]"), "features"),
        (task_with("[[]]"), "features"),
        (task_with("[]"), "features"),
        (task_with("null"), "features"),
        (task_with("[[[0,1]]]"), "features.0.0"),
        (task_with("{}"), "features"),
        (task_with('"[[0,1]]"'), "features"),
        (task_with("[" + "[0,1]," * 100_000 + "[0,1]]"), "features"),
        (task_with("[[0,1]]", "true"), "instruction"),
        (task_with("[[0,1]]", "1.5"), "instruction"),
        (task_with("[[0,1]]", "7"), "instruction"),
        (task_with("[[0,1]]", "-1"), "instruction"),
        (task_with("[[0,1]]", "1" + "0" * 400), "instruction"),
        (task_with("[[0,1]]", '"   "'), "instruction"),
        (task_with("[[0,1]]", '""'), "instruction"),
        (task_with("[[0,1]]", "null"), "instruction"),
        (task_with("[[0,1]]", '["a"]'), "instruction"),
        (task_with('[[0,1]],"texts":["a","b"]'), "texts"),
        (task_with(f'[[0,1]],"images":["{PICTURE}","{PICTURE}"]'), "images"),
        (task_with('[[0,1]],"context":5'), "context"),
        (task_with('[[0,1]],"admin":true'), "admin"),
        (task_with('[[0,1]],"__proto__":{}'), "__proto__"),
        (b"[]", "body"),
        (b"null", "body"),
        (b'"x"', "body"),
        (b"", "body"),
    ],
)
def test_a_task_that_is_none_is_refused_by_field(
    school: School, eng: TestClient, ada: TestClient, body: bytes, field: str
) -> None:
    demand(post_raw(eng, school.rounds, body), 422, "invalid", field)
    demand(post_raw(ada, f"{API}/lessons/{school.words}/preview", body), 422, "invalid", field)


GOOD_LINE = b'{"instruction":"a","features":[[0,1]],"response":0,"description":"b"}'


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"instruction":"a","features":[[NaN,1]],"response":0}',
        b'{"instruction":"a","features":[[1e999,1]],"response":0}',
        b'{"instruction":"a","features":[[0,1]],"response":1}',
        b'{"instruction":"a","features":[[0,1]],"response":-1}',
        b'{"instruction":"a","features":[[0,1]],"response":true}',
        b'{"instruction":"a","features":[[0,1]],"response":0,"propensity":0}',
        b'{"instruction":"a","features":[[0,1]],"response":0,"propensity":1e999}',
        b'{"instruction":"a","features":[[0,1]],"response":0,"description":"\\u0000"}',
        b'{"instruction":"a","features":[[0,1]],"response":0,"account":"somebody else"}',
        b'{"instruction":"a","features":[[0,1],[1]],"response":0}',
        b"\xff\xfe",
        b"\x80\x04\x95pickle.",
        b"PAR1",
        b'{"format":"tellback lesson","version":1,"events":1}',
    ],
)
def test_one_bad_line_keeps_a_whole_log_out(school: School, eng: TestClient, line: bytes) -> None:
    answer = eng.post(
        f"{API}/lessons/{school.words}/import",
        content=GOOD_LINE + b"\n" + line,
        headers={"content-type": "application/jsonl"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert answer.json()["field"].startswith("2.")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user:pass@example.org/",
        "https://example.org\\@127.0.0.1/",
        "//example.org",
        "",
        "https://" + "a" * 3000,
    ],
)
def test_hooks_lead_to_no_inner_place(school: School, eng: TestClient, url: str) -> None:
    answer = eng.post(f"{API}/lessons/{school.words}/webhooks", json={"url": url})
    demand(answer, 422, "invalid", "url")


def test_negative_zero_and_small_numbers_are_numbers(school: School, eng: TestClient) -> None:
    answer = post_raw(eng, school.rounds, task_with("[[-0.0,5e-324],[1e-300,1e12]]"))
    assert answer.status_code == 201
    number = answer.json()["round"]
    done = eng.put(f"{school.rounds}/{number}/description", json={"description": "a"})
    assert done.status_code == 200


# Pictures.


def png(width: int, height: int, data: bytes = b"") -> str:
    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", data or zlib.compress(b"\0" * 100))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts + chunk(b"IEND", b"")).decode()


def animated() -> str:
    file = io.BytesIO()
    Image.new("RGB", (5, 5)).save(file, "GIF", save_all=True)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "picture",
    [
        "",
        "!!!",
        "not base 64",
        "ü",
        PICTURE[:-1],
        PICTURE[: len(PICTURE) // 8 * 4],
        base64.b64encode(base64.b64decode(PICTURE)[:60]).decode(),
        base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>").decode(),
        base64.b64encode(b"GIF89a").decode(),
        base64.b64encode(b"\x80\x04\x95").decode(),
        "data:text/html;base64,PHNjcmlwdD4=",
        "file:///etc/passwd",
        "http://localhost/x.png",
        png(100_000, 100_000),
        png(2**31 - 1, 2**31 - 1),
        png(3000, 3000, zlib.compress(bytes(27_003_000), 9)),
        png(0, 0),
        png(10, 10, b"garbage"),
        animated(),
    ],
)
def test_a_picture_that_is_none_is_refused(school: School, eng: TestClient, picture: str) -> None:
    begun = time.process_time()
    task = {"instruction": "a", "images": [PICTURE, picture]}
    answer = eng.post(f"{API}/lessons/{school.pictures}/rounds", json=task)
    demand(answer, 422, "invalid", "images")
    assert time.process_time() - begun < 5


@pytest.mark.usefixtures("unchanged")
def test_too_many_pictures_are_refused(school: School, eng: TestClient) -> None:
    task = {"instruction": "a", "images": ["AA=="] * 201}
    answer = eng.post(f"{API}/lessons/{school.pictures}/rounds", json=task)
    demand(answer, 422, "invalid", "images")


def test_pictures_are_drawn_anew_so_that_nothing_hides_in_them(
    school: School, eng: TestClient, ada: TestClient
) -> None:
    file = io.BytesIO()
    Image.new("RGB", (200, 200)).save(file, "JPEG", comment=SCRIPT.encode())
    hidden = base64.b64encode(file.getvalue() + SCRIPT.encode()).decode()
    task = {"instruction": "a", "images": [hidden, PICTURE]}
    asked = eng.post(f"{API}/lessons/{school.pictures}/rounds", json=task).json()
    place = f"{API}/lessons/{school.pictures}/rounds/{asked['round']}/images/0.png"
    shown = ada.get(place, headers={"Range": "bytes=0-1"})
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert b"script" not in shown.content
    assert shown.content.startswith(b"\x89PNG")


# Lessons that would take all memory or time, or files, or code.


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"agent": {"kind": "greedy", "model": {"kind": "keywords", "waves": 10**9}}}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "keywords", "waves": 10**4}}}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "sentence", "hidden": 10**4}}}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "sentence", "layers": 99}}}, "agent"),
        (
            {
                "agent": {
                    "kind": "ensemble-sampling",
                    "members": 64,
                    "model": {"kind": "network", "hidden": 512, "rank": 256},
                },
                "dim": 4096,
                "instructions": 256,
            },
            "agent",
        ),
        ({"agent": {"kind": "ensemble-sampling", "members": 10**6}}, "agent"),
        ({"agent": {"kind": "thompson", "draws": 10**12}}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "network", "steps": 10**8}}}, "agent"),
        (
            {
                "agent": {"kind": "greedy", "model": {"kind": "finite-class", "size": 10**4}},
                "instructions": 4096,
                "dim": 256,
            },
            "agent",
        ),
        (
            {
                "agent": {
                    "kind": "greedy",
                    "model": {"kind": "ridge", "labels": {"kind": "ngrams", "dim": 10**9}},
                }
            },
            "agent",
        ),
        ({"agent": {"kind": "greedy", "model": {"kind": "ridge", "labels": []}}}, "agent"),
        ({"agent": {"kind": "loril", "k": float(10**308)} | {"k": [1]}}, "agent"),
        ({"agent": {"kind": "loril", "k": {"kind": "autoencoder"}}}, "agent"),
        ({"agent": {"kind": "os.system", "args": "id"}}, "agent"),
        ({"agent": {"kind": "loril", "__class__": "x"}}, "agent"),
        ({"agent": {"kind": "uniform"}}, "agent"),
        ({"agent": {}}, "agent"),
        ({"agent": []}, "agent"),
        ({"agent": "loril"}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "synthetic"}}}, "agent"),
        ({"dim": 4096, "instructions": 4096}, "instructions"),
        ({"dim": 10**9}, "dim"),
        ({"dim": True}, "dim"),
        ({"dim": "2"}, "dim"),
        ({"dim": 2.0}, "dim"),
        ({"dim": 0}, "dim"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"second_share": float(2)}, "second_share"),
        ({"candidates": "pickles"}, "candidates"),
        ({"candidates": "images", "encoder": {"kind": "autoencoder"}}, "encoder"),
        ({"candidates": "images", "encoder": {"kind": "thumbnail", "cells": 10**6}}, "encoder"),
        ({"candidates": "texts", "encoder": {"kind": "ngrams", "dim": 10**9}}, "encoder"),
        ({"candidates": "texts", "encoder": {"kind": "ngrams", "longest": 10**9}}, "encoder"),
        ({"candidates": "texts", "encoder": {"kind": "word-vectors", "path": "/"}}, "encoder"),
        ({"candidates": "texts", "encoder": {"kind": "thumbnail"}}, "encoder"),
        ({"match": {"kind": "similar", "encoder": {"kind": "ngrams", "dim": 10**9}}}, "match"),
        ({"match": {"kind": "similar", "taught_by": 5}}, "match"),
        ({"match": {"kind": "similar", "taught_by": [["a"]]}}, "match"),
        ({"world": {"kind": "synthetic"}}, "world"),
        ({"facts": {}}, "facts"),
        ({"id": "mine"}, "id"),
        ({"name": ""}, "name"),
        ({"name": "a" * 201}, "name"),
        ({"name": "  "}, "name"),
        ({"name": 5}, "name"),
    ],
)
def test_a_lesson_that_cannot_be_is_refused_by_field(
    eng: TestClient, settings: dict[str, Any], field: str
) -> None:
    begun = time.process_time()
    answer = eng.post(f"{API}/lessons", json={"name": "x", "dim": 2} | settings)
    says = demand(answer, 422, "invalid", field)
    assert len(says) <= 1000
    assert time.process_time() - begun < 5


@pytest.mark.usefixtures("unchanged")
def test_settings_nested_without_end_are_refused(eng: TestClient) -> None:
    for depth in (200, 900):
        body = '{"name":"x","dim":2,"agent":' + '{"kind":"greedy","model":' * depth
        answer = post_raw(eng, f"{API}/lessons", (body + "1" + "}" * depth + "}").encode())
        demand(answer, 422, "invalid", "agent")


# Paths.

TRICKS = [
    "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "a%00b",
    "%0d%0aSet-Cookie:x",
    "a" * 5000,
    "'%20OR%201=1--",
    '"',
    "%ff",
    "1e3",
    "٣",
    "-1",
    "0",
    "9" * 30,
    "{lesson}",
    ";a=b",
    "A",
]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("trick", TRICKS, ids=range(len(TRICKS)))
def test_tricks_in_paths_lead_nowhere(school: School, trick: str) -> None:
    client = school.clients["adm"]
    for path, methods in school.app.openapi()["paths"].items():
        if "{" not in path or path.endswith("/updates"):
            continue
        names = [part for part in path.split("/") if "{" in part]
        for name in names:
            known = {"{lesson}": school.words, "{round}": "1", "{index}.png": "0.png"}
            tried = path
            for other in names:
                value = known.get(other, "0" * 20)
                tried = tried.replace(other, trick if other == name else value)
            for method in methods:
                answer = client.request(method, tried, json={})
                if "/teachers/" in path and answer.status_code == 200:
                    # A proper name, but nobody's: there is nothing to delete.
                    assert answer.json()["events"] == 0
                    continue
                assert answer.status_code in (303, 307, 404, 405, 422), (method, tried, answer.text)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/",
        "/static",
        "/static/api.js/../../app.py",
        "/.env",
        "/openapi.json/../x",
        "/docs",
        "/redoc",
    ],
)
def test_only_static_files_are_served(school: School, path: str) -> None:
    answer = school.client().get(path)
    assert answer.status_code in (303, 307, 404), answer.text
    assert "create_app" not in answer.text


# Headers.


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example"}, 421, "unknown_host"),
        ({"Host": "localhost.evil.example"}, 421, "unknown_host"),
        ({"Host": "localhost@evil.example"}, 421, "unknown_host"),
        ({"Host": ""}, 421, "unknown_host"),
        ({"Origin": "https://evil.example"}, 403, "other_origin"),
        ({"Origin": "null"}, 403, "other_origin"),
        ({"Origin": "http://localhost.evil.example"}, 403, "other_origin"),
        ({"Origin": "http://localhost:9"}, 403, "other_origin"),
        ({"Sec-Fetch-Site": "cross-site"}, 403, "other_origin"),
        ({"Sec-Fetch-Site": "same-site"}, 403, "other_origin"),
    ],
)
def test_requests_from_other_places_are_refused(
    school: School, eng: TestClient, headers: dict[str, str], status: int, code: str
) -> None:
    answer = eng.post(school.rounds, json=TASK, headers=headers)
    demand(answer, status, code, None)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("key", ["", " ", "a b", "a\tb", "ä", "k" * 201, "a\x00b"])
def test_a_key_that_is_none_is_refused(school: School, eng: TestClient, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}
    answer = eng.post(school.rounds, json=TASK, headers=headers)
    demand(answer, 422, "invalid", "header.Idempotency-Key")


def test_a_key_brings_back_no_other_request_and_nobody_elses(
    school: School, eng: TestClient
) -> None:
    headers = {"Idempotency-Key": "'; DROP TABLE answers; --".replace(" ", "+")}
    first = eng.post(school.rounds, json=TASK, headers=headers).json()
    assert eng.post(school.rounds, json=TASK, headers=headers).json() == first
    other = eng.post(school.rounds, json=TASK | {"context": "x"}, headers=headers)
    demand(other, 409, "key_reused", "Idempotency-Key")
    theirs = school.clients["adm"].post(school.rounds, json=TASK, headers=headers)
    assert theirs.json()["round"] != first["round"]


@pytest.mark.usefixtures("unchanged")
def test_a_method_cannot_be_overridden(school: School, ada: TestClient) -> None:
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        answer = ada.get(f"{school.rounds}/1/description", headers={header: "DELETE"})
        demand(answer, 405, "method_not_allowed", None)
        answer = ada.post(
            f"{school.rounds}/1/description?_method=DELETE", headers={header: "DELETE"}
        )
        demand(answer, 405, "method_not_allowed", None)


# Who may do what.


def test_tokens_that_do_not_count_are_refused(school: School) -> None:
    secret = school.token("eng")
    row, revoked = tokens.make(school.database, school.people["eng"].id, "gone")
    expired = school.token("eng", lasts=-1.0)
    tokens.revoke(school.database, row.id)
    before = school.state()
    bad = [revoked, expired, secret[:-1], secret + "x", secret.upper(), "tb_", "", "x" * 10_000]
    bad += ["tb_' OR 1=1 --", "undefined", "null", "Bearer", secret[3:]]
    for token in bad:
        answer = school.client(token or "x").post(school.rounds, json=TASK)
        demand(answer, 401, "not_signed_in", None)
        assert answer.headers["www-authenticate"] == "Bearer"
    for scheme in ("Basic", "Token", "Digest"):
        answer = school.client().post(
            school.rounds, json=TASK, headers={"Authorization": f"{scheme} {secret}"}
        )
        demand(answer, 401, "not_signed_in", None)
    in_the_address = school.client().post(f"{school.rounds}?token={secret}", json=TASK)
    demand(in_the_address, 401, "not_signed_in", None)
    assert school.state() == before


def test_a_token_stops_at_once_when_it_is_revoked(school: School) -> None:
    row, secret = tokens.make(school.database, school.people["ben"].id, "short")
    client = school.client(secret)
    assert client.get(f"{API}/me").status_code == 200
    assert school.clients["adm"].delete(f"{API}/tokens/{row.id}").status_code == 204
    demand(client.get(f"{API}/me"), 401, "not_signed_in", None)


def test_a_session_that_was_planted_is_worth_nothing(school: School) -> None:
    client = school.client()
    client.cookies.set("tellback-session", "planted-by-somebody-else")
    demand(client.get(f"{API}/me"), 401, "not_signed_in", None)
    own = {"Origin": "http://localhost"}
    signed = client.post(f"{API}/login", json={"name": "ben", "password": PASSWORD}, headers=own)
    assert signed.status_code == 200
    fresh = signed.cookies["tellback-session"]
    assert fresh != "planted-by-somebody-else"
    planted = school.client()
    planted.cookies.set("tellback-session", "planted-by-somebody-else")
    demand(planted.get(f"{API}/me"), 401, "not_signed_in", None)
    again = school.client()
    again.cookies.set("tellback-session", fresh)
    demand(again.post(f"{API}/lessons/{school.words}/claims"), 403, "other_origin", None)
    again.post(f"{API}/login", json={"name": "ben", "password": PASSWORD}, headers=own)
    demand(_with_session(school, fresh).get(f"{API}/me"), 401, "not_signed_in", None)


def _with_session(school: School, secret: str) -> TestClient:
    client = school.client()
    client.cookies.set("tellback-session", secret)
    return client


def test_a_session_that_has_ended_is_refused(school: School) -> None:
    secret = sessions.create(school.database, school.people["ada"].id)
    with school.database.write() as connection:
        connection.execute(update(tables.sessions).values(expires=time.time() - 1))
    demand(_with_session(school, secret).get(f"{API}/me"), 401, "not_signed_in", None)


FOR_ENGINEERS = [
    ("POST", "/lessons", {"name": "x", "dim": 2}, "engineer"),
    ("POST", "/lessons/{lesson}/rounds", TASK, "engineer"),
    ("GET", "/lessons/{lesson}/rounds/1", None, "reviewer"),
    ("POST", "/lessons/{lesson}/rollback", {"to": 0}, "engineer"),
    ("GET", "/lessons/{lesson}/export", None, "engineer"),
    ("POST", "/lessons/{lesson}/replay", {"agent": {"kind": "loril"}}, "engineer"),
    ("GET", "/lessons/{lesson}/webhooks", None, "engineer"),
    ("POST", "/lessons/{lesson}/webhooks", {"url": "https://example.org/"}, "engineer"),
    ("GET", "/tokens", None, "engineer"),
    ("POST", "/tokens", {"name": "x"}, "engineer"),
    ("GET", "/accounts", None, "admin"),
    ("POST", "/accounts", {"name": "x", "role": "admin", "password": PASSWORD}, "admin"),
]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(("method", "path", "body", "role"), FOR_ENGINEERS)
def test_a_teacher_is_kept_from_what_others_may_do(
    school: School, ada: TestClient, method: str, path: str, body: Any, role: str
) -> None:
    place = API + path.format(lesson=school.words)
    says = demand(ada.request(method, place, json=body), 403, "forbidden", None)
    assert role in says


def test_nobody_makes_themselves_more_than_they_are(school: School, eng: TestClient) -> None:
    admin, engineer = school.people["adm"], school.people["eng"]
    before = school.state()
    raised = eng.patch(f"{API}/accounts/{engineer.id}", json={"role": "admin"})
    demand(raised, 403, "forbidden", None)
    borrowed = eng.post(f"{API}/tokens", json={"name": "x", "account": admin.id})
    demand(borrowed, 403, "forbidden", None)
    demand(eng.get(f"{API}/tokens?everybody=true"), 403, "forbidden", None)
    assert school.state() == before


def test_another_teachers_round_is_left_alone(
    school: School, ada: TestClient, ben: TestClient
) -> None:
    number = claimed(school, ada)
    place = f"{school.rounds}/{number}"
    before = school.state()
    told = ben.put(f"{place}/description", json={"description": "mine now"})
    demand(told, 409, "claimed", None)
    demand(ben.put(f"{place}/outcome", json={"outcome": "flagged"}), 409, "claimed", None)
    demand(ben.put(f"{place}/claim"), 404, "not_found", None)
    assert ben.delete(f"{place}/description").json()["withdrawn"] is False
    assert school.state() == before
    assert ada.put(f"{place}/description", json={"description": "went left"}).status_code == 200
    before = school.state()
    told = ben.put(f"{place}/description", json={"description": "mine now"})
    demand(told, 409, "described", None)
    demand(ben.delete(f"{place}/description"), 409, "not_yours", None)
    demand(ben.put(f"{place}/outcome", json={"outcome": "skipped"}), 409, "described", None)
    demand(ben.put(f"{place}/claim"), 404, "not_found", None)
    assert school.state() == before


@pytest.mark.usefixtures("unchanged")
def test_a_round_that_nobody_was_given_cannot_be_described(school: School, ben: TestClient) -> None:
    latest = school.clients["adm"].get(f"{API}/lessons/{school.words}").json()["rounds"]
    place = f"{school.rounds}/{latest + 1}"
    demand(ben.put(f"{place}/description", json={"description": "x"}), 404, "not_found", None)
    demand(ben.delete(f"{place}/description"), 404, "not_found", None)
    demand(ben.put(f"{place}/outcome", json={"outcome": "skipped"}), 404, "not_found", None)
    demand(ben.put(f"{place}/check", json={"response": 0}), 404, "not_found", None)


def test_a_pick_beyond_the_responses_is_refused(
    school: School, ada: TestClient, ben: TestClient
) -> None:
    number = claimed(school, ada)
    ada.put(f"{school.rounds}/{number}/description", json={"description": "went left"})
    before = school.state()
    for picked in (2, 99_999):
        answer = ben.put(f"{school.rounds}/{number}/check", json={"response": picked})
        demand(answer, 422, "invalid", "response")
    assert school.state() == before


def test_no_teacher_learns_what_was_asked_before_describing(
    school: School, ada: TestClient, ben: TestClient
) -> None:
    secret = "fetch the violet umbrella"
    eng = school.clients["eng"]
    lesson = eng.post(
        f"{API}/lessons", json={"name": "Secrets", "dim": 2, "second_share": 1.0}
    ).json()["id"]
    place = f"{API}/lessons/{lesson}"
    number = eng.post(f"{place}/rounds", json=TASK | {"instruction": secret}).json()["round"]

    def seen_by(client: TestClient) -> str:
        seen = []
        for path, methods in school.app.openapi()["paths"].items():
            if "get" not in methods or path.endswith("/updates"):
                continue
            known = {"lesson": lesson, "round": number, "index": 0, "account": "0" * 20}
            seen.append(client.get(path.format(**known)).text)
        for action in ("claims", "checks"):
            seen.append(client.post(f"{place}/{action}").text)
        for page in ("", f"teach/{lesson}", f"ask/{lesson}", f"progress/{lesson}"):
            seen.append(client.get(f"/{page}").text)
        seen.append(client.put(f"{place}/rounds/{number}/outcome", json={}).text)
        return "\n".join(seen)

    assert "umbrella" not in seen_by(ada)
    assert "umbrella" not in seen_by(ben)  # who would be second
    told = ada.put(f"{place}/rounds/{number}/description?effect=true", json={"description": "it"})
    assert told.json()["asked"] == secret  # only now
    assert told.json()["effect"]["changes"] == []
    assert "umbrella" not in seen_by(ben)
    other = ben.put(f"{place}/rounds/{number}/description", json={"description": "it"})
    assert (other.json()["second"], other.json()["asked"]) == (True, secret)
