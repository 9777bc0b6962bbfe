"""Pictures and settings that nobody should send."""

from __future__ import annotations

import base64
import io
import struct
import time
import zlib
from typing import Any

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from tests.support.hostile_school import API, PICTURE, SCRIPT, School, demand, post_raw


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


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"agent": {"kind": "greedy", "model": {"kind": "keywords", "waves": 10**9}}}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "keywords", "waves": 10**4}}}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "sentence", "hidden": 10**4}}}, "agent"),
        ({"agent": {"kind": "greedy", "model": {"kind": "sentence", "layers": 99}}}, "agent"),
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
        ({"match": {"kind": "similar", "trained_on": 5}}, "match"),
        ({"match": {"kind": "similar", "trained_on": [["a"]]}}, "match"),
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
