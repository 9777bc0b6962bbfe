"""Logs in files."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback import Listed, Task, rounds
from tellback.agents import (
    EpsilonGreedy,
    Uniform,
)
from tellback.errors import SettingError
from tellback.off_policy import (
    Log,
    Uniformly,
    inverse_propensity,
)
from tellback.worlds import Synthetic
from tests.support.off_policy import SENTENCES, same


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_a_log_comes_back_from_its_file_as_it_was(contexts: Any, tmp_path: Path) -> None:
    spec = Synthetic(instructions=5, responses=3, rank=2, contexts=contexts, seed=0)
    log = Log.of(islice(rounds(spec, EpsilonGreedy(epsilon=0.2)), 40))
    log.save(tmp_path / "log.jsonl")
    again = Log.load(tmp_path / "log.jsonl")
    same(log, again)
    assert len({id(task.responses) for task in again.tasks}) == len(
        {id(task.responses) for task in log.tasks}
    )
    assert inverse_propensity(again, Uniformly()) == inverse_propensity(log, Uniformly())
    assert [file.name for file in tmp_path.iterdir()] == ["log.jsonl"]


def test_sentences_and_what_is_missing_come_back_too(tmp_path: Path) -> None:
    listed = Listed(np.eye(2))
    log = Log(
        tuple(Task("a room", said, listed) for said in SENTENCES),
        np.array([0, 1, 0]),
        np.array([0.5, np.nan, 1.0]),
        ("red ball", None, "a box that is green, I think"),
        np.array([1.0, np.nan, 0.0]),
        np.array([True, False, False]),
    )
    log.save(tmp_path / "log.jsonl")
    again = Log.load(tmp_path / "log.jsonl")
    same(log, again)
    assert again.tasks[0].context == "a room"


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("propensity", 0, "Line 3 of log.jsonl: propensity must be finite, above 0"),
        ("propensity", "often", "Line 3 of log.jsonl: propensity must be a number"),
        ("response", 7, "Line 3 of log.jsonl: response must be from 0 to 2, not 7"),
        ("responses", 4, "Line 3 of log.jsonl: responses must be the number of a set"),
        ("match", 0.5, "Line 3 of log.jsonl: match must be 0, 1 or null"),
        ("description", None, "Line 3 of log.jsonl: match is 0 and description is None"),
        ("instruction", 1.5, "Line 3 of log.jsonl: instruction must be a whole number"),
        ("description", [1], "Line 3 of log.jsonl: description must be a whole number"),
        ("teacher_saw_request", 1, "Line 3 of log.jsonl: teacher_saw_request must be true or"),
        ("context", {}, "Line 3 of log.jsonl: context must be a number, words or null"),
        ("colour", "red", "Line 3 of log.jsonl has an unknown field 'colour'"),
    ],
)
def test_a_damaged_file_is_refused_by_line_and_field(
    field: str, value: Any, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    spec = Synthetic(instructions=5, responses=3, rank=2, seed=0)
    Log.of(islice(rounds(spec, Uniform()), 4)).save(path)
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | {field: value})
    path.write_text("\n".join(lines))
    with pytest.raises(SettingError) as refused:
        Log.load(path)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("{}", "this is no log"),
        ('{"format": "tellback log", "version": 3}', "version must be 1 or 2, not 3"),
        ('{"format": "tellback log", "version": 2}', "Line 1 of log.jsonl: propensities must be"),
        (
            '{"format": "tellback log", "version": 2, "propensities": "sure"}',
            "or else 'unknown', not 'sure'.",
        ),
        ('{"format": "tellback log", "version": 1}\n{"context"', "Line 2 of log.jsonl is not JSON"),
        ('{"format": "tellback log", "version": 1}\n[]', "Line 2 of log.jsonl must be an object"),
        ('{"format": "tellback log", "version": 1}\n{"context": 1}', "has no instruction"),
        ('{"format": "tellback log", "version": 1}\n{"features": [[]]}', "Line 2 of log.jsonl: fe"),
    ],
)
def test_a_file_that_is_no_log_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(text)
    with pytest.raises(SettingError) as refused:
        Log.load(tmp_path / "log.jsonl")
    assert says in str(refused.value)
