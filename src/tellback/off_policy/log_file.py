"""A log as a file: lines of JSON, which any machine and any person can read.

The first line says what the file is, and how its propensities are known. A line with
``features`` is a set of responses, numbered from 0 in their order; every other line is a round,
which names its set by number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from tellback.errors import SettingError, real, whole
from tellback.files import atomic_write
from tellback.off_policy.kinds import UNKNOWN, checked_kind
from tellback.responses import Listed
from tellback.roles import Instruction, Task

HEADER = {"format": "tellback log", "version": 2}
FIRST_VERSION = 1
"""Whose files did not say how their propensities are known."""

PLAIN = (bool, int, float, str)
"""Types of contexts that a file can hold."""


class LogEntry(NamedTuple):
    """A round of a log; NaN where a propensity or a match is not known."""

    task: Task
    response: int
    propensity: float
    description: Instruction | None
    match: float
    teacher_saw_request: bool

    def to_data(self, responses: int) -> dict[str, Any]:
        """The round as a line of the file; ``responses`` is the number of its set."""
        return {
            "context": _plain_context(self.task.context),
            "instruction": _plain(self.task.instruction),
            "responses": responses,
            "response": self.response,
            "propensity": _or_null(self.propensity),
            "description": _plain(self.description),
            "match": None if math.isnan(self.match) else int(self.match),
            "teacher_saw_request": self.teacher_saw_request,
        }


FIELDS = ("context", "instruction", "responses", *LogEntry._fields[1:])


def header(kind: str) -> dict[str, Any]:
    """The first line of a file whose propensities are known so."""
    return {**HEADER, "propensities": checked_kind(kind)}


def write_entries(path: Path, entries: Iterable[LogEntry], kind: str) -> None:
    """Write a log, whole or not at all."""
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        lines = chain([header(kind)], _lines(entries))
        file.writelines(json.dumps(line, allow_nan=False) + "\n" for line in lines)


def read_entries(path: Path) -> tuple[str, Iterator[LogEntry]]:
    """How propensities are known, and the rounds; an error names the line and what is wrong."""
    with _text(path) as file:
        first = file.readline()
    if not first:
        raise SettingError(f"{path.name} is empty; a log has at least its first line.")
    where = f"Line 1 of {path.name}"
    return _kind(_parsed(first, where), where), _entries(path)


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    try:
        with path.open(encoding="utf-8") as file:
            yield file
    except UnicodeDecodeError as error:
        raise SettingError(f"{path.name} is not a log: {error}.") from error


def _entries(path: Path) -> Iterator[LogEntry]:
    listed: list[Listed] = []
    with _text(path) as file:
        for number, text in enumerate(islice(file, 1, None), start=2):
            where = f"Line {number} of {path.name}"
            line = _parsed(text, where)
            if "features" in line:
                listed.append(_listed(line["features"], where))
            else:
                yield _entry(line, listed, where)


def _lines(entries: Iterable[LogEntry]) -> Iterator[dict[str, Any]]:
    numbers: dict[int, int] = {}
    for entry in entries:
        responses = entry.task.responses
        if id(responses) not in numbers:  # the tasks hold them, so no id is given twice
            numbers[id(responses)] = len(numbers)
            yield {"features": responses.matrix.tolist()}
        yield entry.to_data(numbers[id(responses)])


def _plain(instruction: Instruction | None) -> Instruction | None:
    if instruction is None or isinstance(instruction, str):
        return instruction
    return int(instruction)


def _plain_context(context: Any) -> Any:
    lost = isinstance(context, float) and not math.isfinite(context)
    return context if isinstance(context, PLAIN) and not lost else None


def _or_null(number: float) -> float | None:
    return None if math.isnan(number) else number


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except ValueError as error:
        raise SettingError(f"{where} is not JSON: {error}.") from error
    if not isinstance(line, dict):
        raise SettingError(f"{where} must be an object, not {line!r}.")
    return line


def _kind(line: dict[str, Any], where: str) -> str:
    """How the propensities are known, by the first line."""
    if line.get("format") != HEADER["format"]:
        raise SettingError(f"{where} must say {json.dumps(HEADER)}: this is no log.")
    if line.get("version") == FIRST_VERSION:
        return UNKNOWN
    if line.get("version") != HEADER["version"]:
        raise SettingError(
            f"{where}: version must be {FIRST_VERSION} or {HEADER['version']}, "
            f"not {line.get('version')!r}."
        )
    try:
        return checked_kind(line.get("propensities"))
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from error


def _listed(features: Any, where: str) -> Listed:
    try:
        return Listed(features)
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from error


def _entry(line: dict[str, Any], listed: list[Listed], where: str) -> LogEntry:
    for name in (*FIELDS, *line):
        if name not in line:
            raise SettingError(f"{where} has no {name}.")
        if name not in FIELDS:
            raise SettingError(f"{where} has an unknown field {name!r}.")
    try:
        return _checked(line, listed)
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from error


def _checked(line: dict[str, Any], listed: list[Listed]) -> LogEntry:
    which = whole("responses", line["responses"], at_least=0)
    if which >= len(listed):
        raise SettingError(
            f"responses must be the number of a set listed above, of which there are "
            f"{len(listed)}, not {which}."
        )
    responses = listed[which]
    response = whole("response", line["response"], at_least=0)
    if response not in responses:
        raise SettingError(f"response must be from 0 to {len(responses) - 1}, not {response}.")
    propensity = line["propensity"]
    if propensity is not None:
        propensity = real("propensity", propensity, above=0, at_most=1)
    description, match = line["description"], line["match"]
    if match not in (0, 1, None) or isinstance(match, bool):
        raise SettingError(f"match must be 0, 1 or null, not {match!r}.")
    if match is not None and description is None:
        raise SettingError(
            f"match is {match!r} and description is None: without a description there is no match."
        )
    seen = line["teacher_saw_request"]
    if not isinstance(seen, bool):
        raise SettingError(f"teacher_saw_request must be true or false, not {seen!r}.")
    context = line["context"]
    if context is not None and not isinstance(context, PLAIN):
        raise SettingError(f"context must be a number, words or null, not {context!r}.")
    asked = _instruction("instruction", line["instruction"])
    told = None if description is None else _instruction("description", description)
    return LogEntry(
        Task(context, asked, responses),
        response,
        math.nan if propensity is None else propensity,
        told,
        math.nan if match is None else float(match),
        seen,
    )


def _instruction(name: str, value: Any) -> Instruction:
    return value if isinstance(value, str) else whole(name, value, at_least=0)
