"""Lessons of one's own material through the API, on both back ends; and changing lessons."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import func, select

from tellback.classroom.client import ProblemError
from tellback.classroom.learning import collecting
from tellback.classroom.store.tables import lessons, metadata
from tellback.classroom.web import import_lines, own_lines
from tellback.encoders.thumbnail import Thumbnail
from tests.support.api_room import Room, client_of
from tests.support.own_material import chores, noise
from tests.support.states import same_state


def picture(seed: int) -> str:
    file = io.BytesIO()
    Image.fromarray(noise(seed)).save(file, "JPEG")
    return base64.b64encode(file.getvalue()).decode()


def lines(*some: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in some)


def sent(room: Room, body: str, who: dict[str, str] | None = None, **params: Any) -> Any:
    return room.send("POST", "/lessons/import", who, params={"name": "x"} | params, content=body)


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "usual_encoder", Thumbnail)


@pytest.mark.parametrize("frames", [1, 3])
def test_pictures_become_a_lesson_that_asks_by_itself(room: Room, frames: int) -> None:
    client = client_of(room)
    made = [{"images": [picture(10 * i + j) for j in range(frames)]} for i in range(8)]
    lesson = client.import_lesson("clips", made, candidates=3)
    shown = lesson.claim()
    assert shown is not None
    assert shown["candidates"] == len(shown["images"]) == 3
    assert shown["form"] == ("strips" if frames > 1 else None)
    assert shown["texts"] is None
    file = room.http.get(shown["images"][1], headers=room.ann)
    assert file.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(file.content)).width == (320 if frames == 1 else 488)
    assert lesson.picture(shown["round"], 1) == file.content
    described = lesson.describe(shown["round"], "grey noise")
    assert described["part"] in ("exam", "first")
    assert described["asks_judgement"] is False
    missing = room.send("GET", f"/lessons/{lesson.id}/rounds/1/images/3.png")
    assert missing.status_code == 404


def test_steps_with_descriptions_are_taught_and_examined(room: Room) -> None:
    client = client_of(room)
    lesson = client.import_lesson(
        "chores", [one.recorded.to_data() for one in chores(described=True)]
    )
    progress = lesson.progress()
    assert progress["described"] == 40
    assert progress["held_out"] == {"descriptions": 10, "needed": 10, "share": 0.25}
    assert progress["judged_by"] == "people"
    shown = lesson.claim()
    assert shown is not None
    assert shown["form"] == "steps"
    assert shown["texts"][0].startswith("take ")
    agent = room.inside.learner(lesson.id).agent
    assert same_state(agent.state(), room.rebuilt(lesson.id).state())


def test_a_table_of_texts_is_a_lesson(room: Room) -> None:
    answer = sent(room, "text\na cup of tea\na glass of milk\n", format="csv", candidates=2)
    assert answer.status_code == 201, answer.text
    shown = room.done("POST", f"/lessons/{answer.json()['id']}/claims", room.ann)
    assert sorted(shown["texts"]) == ["a cup of tea", "a glass of milk"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "two responses"),
        (lines({"text": "one"}), "at least two"),
        (lines({"image": "/etc/passwd"}, {"text": "x"}), "send the picture itself"),
        (lines({"images": ["AAAA"]}, {"images": ["AAAA"]}), "PNG, JPEG or WebP"),
        (lines({"images": ["../../etc/passwd"]}, {"images": ["x"]}), "PNG, JPEG or WebP"),
        (lines({"images": ["AAAA"] * 13}), "at most 12"),
        (lines({"images": "AAAA"}), "a list of files"),
        (lines({"text": "x", "id": "1"}, {"text": "y", "id": "1"}), "an earlier line has it"),
        (lines({"text": "x", "unknown": 1}), "unknown"),
        ("[1, 2]\n", "an object"),
        ("{\n", "not JSON"),
        (lines({"text": "x"}, {"text": "x"}), "differ"),
    ],
)
def test_what_cannot_be_a_lesson_is_refused_and_leaves_nothing(
    room: Room, body: str, says: str
) -> None:
    before = len(client_of(room).lessons())
    answer = sent(room, body)
    assert answer.status_code == 422, answer.text
    assert says in answer.json()["detail"]
    assert len(client_of(room).lessons()) == before


def test_long_lines_are_read_in_another_process(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = []

    def noted(read: Any, line: bytes) -> Any:
        beside.append(len(line))
        return read(line)

    monkeypatch.setattr(import_lines, "FOR_IMPORTS", noted)
    made = lines(*({"images": [picture(seed)]} for seed in range(4)))
    long = made.replace('{"images"', "{" + " " * 2**16 + '"images"')
    assert sent(room, long).status_code == 201
    assert len(beside) == 4
    for text in ({"text": "t", "goal": "a" * 2**20}, {"text": "t", "images": [[1, 1]] * 2**16}):
        assert sent(room, lines(text)).json()["field"].startswith("1.")
    assert len(beside) == 6
    assert sent(room, "text\n" + "a," * 2**20, format="csv").json()["field"] == "2.line"
    assert sent(room, lines({"text": "t"})[:-3] + " " * 2**16).json()["field"] == "1.line"


def test_counts_are_limited_while_it_is_read(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_lines, "MOST_RESPONSES", 3)
    monkeypatch.setattr(own_lines, "MOST_TABLE_LINES", 3)
    many = lines(*({"text": str(i)} for i in range(4))) + "this is not reached"
    assert "at most 3 responses" in sent(room, many).json()["detail"]
    assert "at most 3 lines" in sent(room, "text\na\nb\nc\n", format="csv").json()["detail"]


def test_a_request_that_comes_again_makes_no_other_lesson(room: Room) -> None:
    body, key = lines({"text": "one"}, {"text": "two"}), {"Idempotency-Key": "once"}
    more: dict[str, Any] = {"params": {"name": "x"}, "content": body, "headers": key}
    first, again = (room.done("POST", "/lessons/import", **more) for _ in range(2))
    assert first == again


def test_an_export_of_such_a_lesson_keeps_what_is_held_out(room: Room) -> None:
    client = client_of(room)
    lesson = client.import_lesson(
        "chores", [one.recorded.to_data() for one in chores(described=True)]
    )
    exported = room.send("GET", f"/lessons/{lesson.id}/export").content
    dim = room.done("GET", f"/lessons/{lesson.id}")["definition"]["dim"]
    other = room.done("POST", "/lessons", json={"name": "copy", "dim": dim})["id"]
    room.done("POST", f"/lessons/{other}/import", content=exported)
    one, copy = (room.inside.learner(id).agent for id in (lesson.id, other))
    assert one.learned == copy.learned == 30


# --- changing lessons ---------------------------------------------------------------------------


def test_lessons_are_renamed_archived_and_taken_out_again(room: Room) -> None:
    lesson = client_of(room).create_lesson("old name", dim=3)
    assert lesson.change(name="new name")["name"] == "new name"
    assert lesson.progress()["name"] == "new name"
    lesson.ask("go", features=[[1, 0, 0], [0, 1, 0]])
    claimed = lesson.claim()
    assert claimed is not None
    assert lesson.change(archived=True)["archived"] is True
    assert lesson.describe(claimed["round"], "went")["new"]  # what is open can still be sent
    with pytest.raises(ProblemError, match="in the archive"):
        lesson.claim()
    assert lesson.change(archived=False)["archived"] is False
    assert lesson.claim() is None
    client_of(room).create_lesson("taken", dim=3)
    with pytest.raises(ProblemError, match="another lesson named “taken”"):
        lesson.change(name="taken")
    assert lesson.change(name="new name")["name"] == "new name"  # its own
    assert room.send("PATCH", f"/lessons/{lesson.id}", json={"name": " "}).status_code == 422
    assert room.send("PATCH", "/lessons/none", json={"name": "x"}).status_code == 404


def test_a_deleted_lesson_is_gone_from_every_table_and_others_stay(room: Room) -> None:
    kept, gone = room.taught(3), room.taught(3)
    before = rows(room, kept)
    learner = room.inside.learner(gone)
    for path, who in ((f"/lessons/{gone}", room.admin), (f"/lessons/{gone}?word=no", room.admin)):
        assert room.send("DELETE", path, who).status_code == 422
    assert room.send("DELETE", f"/lessons/{gone}?word=delete").status_code == 403
    room.done("DELETE", f"/lessons/{gone}?word=delete", room.admin)
    assert set(rows(room, gone).values()) == {0}
    assert rows(room, kept) == before
    assert room.send("GET", f"/lessons/{gone}").status_code == 404
    assert room.send("POST", f"/lessons/{gone}/claims").status_code == 404
    # Another process may still have it in memory.
    room.inside._learners[gone] = learner
    assert room.send("POST", f"/lessons/{gone}/claims").status_code == 404
    assert room.send("GET", f"/lessons/{gone}/progress").status_code == 404
    room.inside.forget(gone)


def rows(room: Room, lesson: str) -> dict[str, int]:
    found = {}
    with room.inside.database.read() as connection:
        for table in metadata.sorted_tables:
            column = table.c.id if table is lessons else table.c.get("lesson")
            if column is not None:
                query = select(func.count()).select_from(table).where(column == lesson)
                found[table.name] = connection.execute(query).scalar_one()
    return found
