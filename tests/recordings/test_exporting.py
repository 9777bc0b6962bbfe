"""Training data for others: messages, tables and recordings."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tellback import Listed, Task, rounds
from tellback.agents import EpsilonGreedy, Greedy
from tellback.encoders import ShapeAndColour
from tellback.errors import SettingError
from tellback.models import Keywords, Ridge
from tellback.off_policy import Log
from tellback.recordings import (
    Example,
    RecordedResponse,
    Recording,
    Said,
    examples_of,
    export_examples,
    read,
    teach,
)
from tellback.roles import Facts, State
from tellback.worlds import Images, Synthetic

MOVED = Example(
    "round 4",
    "put the mug away",
    response="Pick mug\nPut mug shelf",
    index=1,
    context="a kitchen",
    person="ann",
    candidates=("Wait", "Pick mug\nPut mug shelf"),
    features=(0.1, -2.0),
)
RIDGE = EpsilonGreedy(model=Ridge())
PLAIN = Example("round 5", "it waited", index=0)

HOUSE = Recording(
    (
        RecordedResponse(
            "a",
            "kitchen",
            (Said("took the mug", "ann"), Said("a mug is gone", "ben")),
            steps=(("Go", "shelf"), ("Pick", "mug")),
        ),
        RecordedResponse("b", "hall", (Said("nothing"),), tokens=("door", "key")),
        RecordedResponse("c", "hall", (), text="nobody described this"),
    )
)


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def same_bits(one: State, other: State) -> bool:
    def bits(value: object) -> tuple[str, tuple[int, ...], bytes]:
        array = np.asarray(value)
        return array.dtype.str, array.shape, array.tobytes()

    return one.keys() == other.keys() and all(bits(one[k]) == bits(other[k]) for k in one)


# --- messages --------------------------------------------------------------------------------


def test_a_description_is_the_request_and_the_response_is_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    assert export_examples([MOVED, PLAIN], path, "chat") == 2
    assert lines_of(path) == [
        {
            "messages": [
                said("system", "a kitchen"),
                said("user", "put the mug away"),
                said("assistant", "Pick mug\nPut mug shelf"),
            ]
        },
        {"messages": [said("user", "it waited"), said("assistant", "response 0")]},
    ]


def test_messages_can_list_the_candidates_and_leave_out_the_context() -> None:
    (request, answer) = MOVED.to_chat(context=False, candidates=True)["messages"]
    assert request["content"] == "- Wait\n- Pick mug, Put mug shelf\n\nput the mug away"
    assert answer["content"] == MOVED.response


def test_a_recording_gives_an_example_for_each_description() -> None:
    found = list(examples_of(HOUSE))
    assert [(one.id, one.description, one.person) for one in found] == [
        ("a", "took the mug", "ann"),
        ("a", "a mug is gone", "ben"),
        ("b", "nothing", ""),
    ]
    assert [one.answer for one in found] == ["Go shelf\nPick mug"] * 2 + ["door, key"]
    assert found[0].to_chat()["messages"][0] == said("system", "kitchen")


# --- tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize("examples", [(), (MOVED, PLAIN)])
def test_a_table_has_a_row_for_each_example(examples: tuple[Example, ...], tmp_path: Path) -> None:
    path = tmp_path / "examples.parquet"
    assert export_examples(examples, path, "parquet") == len(examples)
    table = pl.read_parquet(path)
    assert table.schema["features"] == pl.List(pl.Float64())
    assert table["description"].to_list() == [one.description for one in examples]
    assert table["response"].to_list() == [one.answer for one in examples]
    assert table["features"].to_list() == [list(one.features) for one in examples]
    assert table["candidates"].to_list() == [list(one.candidates) for one in examples]


# --- recordings ------------------------------------------------------------------------------


def test_an_exported_recording_is_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    other = Example("round 6", "3", features=(1.0, 1e-300))
    export_examples([MOVED, other], path, "recording", group="my log")
    assert read(path).responses == (
        RecordedResponse(
            "round 4",
            "a kitchen",
            (Said("put the mug away", "ann"),),
            features=(0.1, -2.0),
            text=MOVED.response,
        ),
        RecordedResponse("round 6", "my log", (Said("3"),), features=(1.0, 1e-300)),
    )


def test_what_has_neither_numbers_nor_words_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with pytest.raises(SettingError, match="round 5 has neither features nor a text"):
        export_examples([PLAIN], path, "recording")
    assert not path.exists()


@pytest.mark.parametrize(("format", "name"), [("chat", "a.parquet"), ("parquet", "a.jsonl")])
def test_a_file_has_the_name_of_its_format(format: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=f"{format!r} is for a"):
        export_examples([], tmp_path / name, format)
    with pytest.raises(SettingError, match=r"format.*chat"):
        export_examples([], tmp_path / name, "chats")


@pytest.mark.parametrize(
    ("world", "agent"),
    [
        (Synthetic(instructions=6, responses=4, rank=3, contexts="fresh"), RIDGE),
        (Images("jitter", encoder=ShapeAndColour()), Greedy(model=Keywords(waves=5))),
    ],
    ids=["table", "sentences"],
)
def test_an_agent_taught_by_the_export_is_the_agent_that_played(
    world: Any, agent: Any, tmp_path: Path
) -> None:
    """Bit for bit: numbers are written as they are, and the order stays."""
    played = agent.build(world.facts, np.random.default_rng(0))
    log = Log.of(islice(rounds(world, played), 40))
    export_examples(log.examples(), tmp_path / "r.jsonl", "recording")
    taught = agent.build(world.facts, np.random.default_rng(0))
    assert teach(taught, read(tmp_path / "r.jsonl")) == 40
    assert same_bits(played.state(), taught.state())
    assert not same_bits(played.state(), agent.build(world.facts, np.random.default_rng(0)).state())


# --- logs ------------------------------------------------------------------------------------


def small_log() -> Log:
    listed = Listed(np.eye(2))
    return Log(
        tuple(Task(where, "any", listed) for where in ("a room", 3, object())),
        np.array([0, 1, 0]),
        np.full(3, np.nan),
        ("went left", None, "went back"),
        np.array([1.0, np.nan, 0.0]),
        np.zeros(3, dtype=bool),
    )


def test_the_described_rounds_of_a_log_are_examples() -> None:
    first, second = small_log().examples()
    assert (first.id, first.context, first.index) == ("round 1", "a room", 0)
    assert first.features == (1.0, 0.0)
    assert (first.answer, first.candidates) == ("response 0", ("response 0", "response 1"))
    assert (second.id, second.context) == ("round 3", "")


def test_a_function_can_say_what_the_responses_of_a_log_are() -> None:
    first, _ = small_log().examples(words=lambda task, y: f"{task.context}: {'LR'[y]}")
    assert first.answer == "a room: L"
    assert first.candidates == ("a room: L", "a room: R")


def test_facts_are_those_of_the_recording(tmp_path: Path) -> None:
    export_examples(small_log().examples(), tmp_path / "r.jsonl", "recording")
    agent = Greedy(model=Keywords(waves=0)).build(Facts(3, None), np.random.default_rng(0))
    with pytest.raises(SettingError, match="columns must have 3 features"):
        teach(agent, read(tmp_path / "r.jsonl"))


def test_a_recording_exported_as_a_recording_is_the_same_but_for_step_descriptions(
    tmp_path: Path,
) -> None:
    recording = Recording(
        tuple(
            RecordedResponse(
                f"r{i}",
                "kitchen",
                (Said("put the mug away", "a"), Said("a mug goes to the shelf", "b")),
                goal=f"goal {i}",
                steps=(("Take", f"mug{i}"), ("Put", f"mug{i}", "shelf")),
            )
            for i in range(3)
        )
    )
    path = tmp_path / "again.jsonl"
    assert export_examples(examples_of(recording), path, "recording") == 6
    assert read(path).responses == recording.responses


def test_a_single_candidate_is_not_listed_because_it_is_the_answer() -> None:
    example = Example("1", "the mug", "take\nthe mug", candidates=("take\nthe mug",))
    assert example.to_chat(candidates=True)["messages"][0]["content"] == "the mug"
    two = Example("1", "the mug", "take", candidates=("take\nthe mug", "leave"))
    listed = "- take, the mug\n- leave\n\nthe mug"
    assert two.to_chat(candidates=True)["messages"][0]["content"] == listed
