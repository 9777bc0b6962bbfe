"""Bodies that nobody should send, from people and programs who do."""

from __future__ import annotations

import base64
import gzip
import io
import json
import time
from typing import Any

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from tellback.classroom.learning import pictures
from tellback.classroom.side_process import FOR_REQUESTS
from tellback.errors import FieldError
from tests.support.hostile_school import (
    API,
    PICTURE,
    SCRIPT,
    TASK,
    School,
    ask,
    demand,
    post_raw,
    task_with,
)


@pytest.mark.parametrize(
    "said", ["", "  ", "\u200b", " \u200b\u2060\ufeff ", "\u00ad", "\ufe0f", "\u2028", "\u3000"]
)
def test_what_nobody_can_see_is_no_description(school: School, ada: TestClient, said: str) -> None:
    number = ask(school)
    answer = ada.put(f"{school.rounds}/{number}/description", json={"description": said})
    assert demand(answer, 422, "invalid", "description") == "description: must say something."


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


@pytest.mark.usefixtures("unchanged")
def test_a_sentence_of_ten_megabytes_is_refused_at_once(
    school: School, eng: TestClient, ada: TestClient
) -> None:
    long = "a" * 10_000_000
    begun = time.process_time()
    demand(
        eng.post(school.rounds, json=TASK | {"instruction": long}), 422, "invalid", "instruction"
    )
    path = f"{school.rounds}/1/description"
    demand(ada.put(path, json={"description": long}), 413, "too_large", None)
    told = ada.put(path, json={"description": long[:60_000]})
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
    says = demand(post_raw(eng, school.rounds, body), 422, "invalid", "body")
    assert says.startswith("The body is not JSON: ")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("length", [0, 2**16])  # a large one is read by another process
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"features": [[NaN, 1]]}', "NaN is no number of JSON."),
        (b'{"instruction": 1, "instruction": 2}', "The name 'instruction' occurs more than once."),
        (b'{"instruction": "\xff"}', "It is not UTF-8."),
        (b'{"features": [[' + b"9" * 5000 + b"]]}", "A number has too many digits."),
        (b'{"instruction" "a"}', "Expecting ':' delimiter, at character 16."),
    ],
)
def test_what_is_no_json_is_said_and_where(
    school: School, eng: TestClient, body: bytes, says: str, length: int
) -> None:
    answer = post_raw(eng, school.rounds, body + b" " * length)
    assert demand(answer, 422, "invalid", "body") == f"The body is not JSON: {says}"


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ({"features": [[1, 0], [1, 0, 2]]}, "features.1", "features.1 must have 2 numbers, not 3."),
        ({"features": [[1, 0], []]}, "features.1", "features.1 must have 2 numbers, not 0."),
        (
            {"features": [[1, 0], [0, -1e13]]},
            "features.1.1",
            "features.1.1 must be from -1e+12 to 1e+12, not -1e+13.",
        ),
        (
            {"features": []},
            "features",
            "features must have at least one entry, one for each response.",
        ),
        (
            {"features": None, "texts": ["one", "two"]},
            "features",
            "features must be given: this lesson's responses are features, and texts can only "
            "accompany them.",
        ),
        ({"acted": [1]}, "acted", "acted: It must be an object of JSON."),
        ({"instruction": " "}, "instruction", "instruction: must say something."),
    ],
)
def test_what_is_wrong_with_a_task_is_said_and_of_which_response(
    school: School, eng: TestClient, change: dict[str, Any], field: str, says: str
) -> None:
    answer = eng.post(school.rounds, json=TASK | change)
    assert demand(answer, 422, "invalid", field) == says


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json"],
)
def test_another_content_type_is_refused(school: School, eng: TestClient, kind: str) -> None:
    answer = post_raw(eng, school.rounds, json.dumps(TASK).encode(), **{"content-type": kind})
    says = demand(answer, 422, "invalid", "Content-Type")
    assert says == f"Content-Type must be application/json, not {kind!r}."


@pytest.mark.usefixtures("unchanged")
def test_compressed_bodies_are_not_unpacked(school: School, eng: TestClient) -> None:
    bomb = gzip.compress(b"[" * 50_000_000, 1)
    answer = post_raw(eng, school.rounds, bomb, **{"content-encoding": "gzip"})
    demand(answer, 422, "invalid", "body")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (task_with("[[1e999,1]]"), "features"),
        (task_with("[[-1e999,1]]"), "features"),
        (task_with("[[1e308,1]]"), "features.0.0"),
        (task_with("[[1,-1e13]]"), "features.0.1"),
        (task_with("[[" + "9" * 400 + ",1]]"), "features.0.0"),
        (task_with("[[true,1]]"), "features.0.0"),
        (task_with('[["1",1]]'), "features.0.0"),
        (task_with("[[null,1]]"), "features.0.0"),
        (task_with("[[0,1],[1]]"), "features.1"),
        (task_with("[[0,1],[1,0,0]]"), "features.1"),
        (task_with("[[0]]"), "features.0"),
        (task_with("[[]]"), "features.0"),
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


def test_pictures_that_are_large_together_are_refused_before_one_is_decoded(
    school: School, eng: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.BytesIO()
    Image.new("1", (2000, 2000)).save(file, "PNG")
    large = base64.b64encode(file.getvalue()).decode()
    lesson = f"{API}/lessons/{school.pictures}"
    fine = {"instruction": "red", "images": [large] * 5}
    assert eng.post(f"{lesson}/preview", json=fine).status_code == 200
    for path in ("rounds", "preview"):
        answer = eng.post(f"{lesson}/{path}", json=fine | {"images": [large] * 6})
        assert "20,000,000 pixels together" in demand(answer, 422, "invalid", "images")
    monkeypatch.setattr(pictures, "_decoded", None)
    with pytest.raises(FieldError, match="pixels together"):
        pictures.pictures_from([large] * 6)


def test_a_picture_waits_for_its_turn_and_is_refused_if_that_takes_long(
    school: School, eng: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = {"instruction": "red", "images": [PICTURE]}
    monkeypatch.setattr(FOR_REQUESTS.turns, "_wait", 0.01)
    with FOR_REQUESTS.turns:
        answer = eng.post(f"{API}/lessons/{school.pictures}/rounds", json=task)
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert answer.headers["retry-after"] == "2"


BLANK = " " * 2**16
"""Makes a body large: it is read in another process."""


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (task_with(BLANK + "[[true,1]]"), "features.0.0"),
        (task_with(BLANK + '[[1,"1"]]'), "features.0.1"),
        (task_with(BLANK + "[[0,1],[1]]"), "features.1"),
        (task_with(BLANK + "[[0,1],5]"), "features.1"),
        (task_with(BLANK + "[[0,1,2]]"), "features.0"),
        (task_with(BLANK + "[[" + "9" * 400 + ",1]]"), "features"),
        (task_with(BLANK + "[[1e999,1]]"), "features"),
        (task_with(BLANK + "[]"), "features"),
        (task_with(BLANK + '[[0,1]],"texts":[5]'), "texts.0"),
        (task_with(BLANK + '[[0,1]],"texts":["\\u0000"]'), "texts.0"),
        (task_with(BLANK + '[[0,1]],"admin":true'), "admin"),
        (task_with("[[0,1]]", json.dumps(["a"] * 2**15)), "instruction"),
        (task_with('[[0,1]],"more":' + json.dumps([[0.5] * 2] * 2**15)), "more"),
        (json.dumps([[]] * 2**15).encode(), "body"),
        (task_with("[[0,1]")[:-1] + BLANK.encode(), "body"),
    ],
)
def test_a_large_task_that_is_none_is_refused_by_field_too(
    school: School, eng: TestClient, body: bytes, field: str
) -> None:
    demand(post_raw(eng, school.rounds, body), 422, "invalid", field)


def test_a_large_task_is_answered_as_a_small_one(school: School, eng: TestClient) -> None:
    plain, large = task_with("[[0,1],[1,0]]"), task_with(BLANK + "[[0,1],[1,0]]")
    path = f"{API}/lessons/{school.words}/preview"
    assert post_raw(eng, path, plain).json() == post_raw(eng, path, large).json()
    key = {"idempotency-key": "large"}
    first, again = (post_raw(eng, school.rounds, large, **key).json()["round"] for _ in range(2))
    assert first == again


@pytest.mark.parametrize("kind", ["application/json", "application/JSON", "Application/x+Json"])
def test_a_large_task_waits_for_its_turn_and_is_refused_if_that_takes_long(
    school: School, eng: TestClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(FOR_REQUESTS.turns, "_wait", 0.01)
    with FOR_REQUESTS.turns:
        body = task_with(BLANK + "[[0,1]]")
        answer = post_raw(eng, school.rounds, body, **{"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
