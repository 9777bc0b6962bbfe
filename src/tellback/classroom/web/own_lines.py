"""The lines of one's own material: recorded responses, with pictures in base 64."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from tellback.classroom.learning.collecting import (
    MOST_DESCRIPTIONS,
    MOST_FRAMES,
    MOST_PICTURES,
    MOST_RESPONSES,
    OwnResponse,
)
from tellback.classroom.learning.pictures import readable
from tellback.classroom.web.import_lines import long_value, numbered_lines, wrong_line
from tellback.classroom.web.problems import invalid
from tellback.classroom.web.strict_json import LARGE, long_response, strict_json
from tellback.errors import SettingError
from tellback.recordings.fields import response_from_data
from tellback.recordings.reading import response_of
from tellback.recordings.table import OWN_GROUP, responses_in_table

MOST_TABLE_LINES = 200_000
LONGEST_TABLE_LINE = 2**20
ELSEWHERE = "elsewhere"
"""In place of a path: the picture is in the line itself."""


def own_responses(file: BinaryIO, table: bool, longest: int) -> list[OwnResponse]:
    """The responses in a file of lines of JSON, or in a CSV ``table`` of texts.

    Counts are limited while it is read. An error names the line.
    """
    found: list[OwnResponse] = []
    ids: set[str] = set()
    pictures = descriptions = 0
    for number, one in (
        _in_table(file, min(longest, LONGEST_TABLE_LINE)) if table else _in_lines(file, longest)
    ):
        if one.recorded.id in ids:
            raise wrong_line(number, "id", "an earlier line has it")
        ids.add(one.recorded.id)
        found.append(one)
        pictures += len(one.files)
        descriptions += len(one.recorded.descriptions)
        if (
            len(found) > MOST_RESPONSES
            or pictures > MOST_PICTURES
            or descriptions > MOST_DESCRIPTIONS
        ):
            raise invalid(
                "body",
                f"There may be at most {MOST_RESPONSES:,} responses, {MOST_PICTURES:,} pictures "
                f"and {MOST_DESCRIPTIONS:,} descriptions.",
            )
    return found


def _in_lines(file: BinaryIO, longest: int) -> Iterator[tuple[int, OwnResponse]]:
    for number, line in numbered_lines(file, longest):
        try:
            is_long = len(line) > LARGE
            data = long_value(long_response, number, line) if is_long else strict_json(line)
            yield number, _response(number, data)
        except json.JSONDecodeError as error:
            raise wrong_line(number, "line", "it is not JSON") from error
        except SettingError as error:
            raise wrong_line(number, "line", _reason(error)) from error


def _response(number: int, data: Any) -> OwnResponse:
    """The response of a line; what is not given has a plain default."""
    if not isinstance(data, dict):
        raise SettingError("A response is an object.")
    if "image" in data:  # no file of this machine is read for somebody else
        raise SettingError("image names a file: send the picture itself, as images.")
    files = data.pop("images", [])
    if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
        raise SettingError("images must be a list of files in base 64.")
    if len(files) > MOST_FRAMES:
        raise SettingError(f"images must be at most {MOST_FRAMES}: the frames of a strip.")
    plain = {"id": f"line {number}", "group": OWN_GROUP, "descriptions": []}
    if not files:
        return OwnResponse(response_of(data if "turk_annotations" in data else plain | data))
    recorded = response_from_data(plain | data | {"image": ELSEWHERE})
    return OwnResponse(replace(recorded, image=""), [_decoder(one) for one in files])


def _decoder(encoded: str) -> Callable[[], bytes]:
    def decoded() -> bytes:
        with readable():
            return base64.b64decode(encoded, validate=True)

    return decoded


def _in_table(file: BinaryIO, longest: int) -> Iterator[tuple[int, OwnResponse]]:
    for number, data in responses_in_table(_texts(file, longest), texts=True):
        if isinstance(data, SettingError):
            raise wrong_line(number, "line", _reason(data))
        try:
            yield number, OwnResponse(response_from_data(data))
        except SettingError as error:
            raise wrong_line(number, "line", _reason(error)) from error


def _texts(file: BinaryIO, longest: int) -> Iterator[str]:
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest or number > MOST_TABLE_LINES:
            says = f"a table has at most {MOST_TABLE_LINES:,} lines of {longest:,} bytes"
            raise wrong_line(number, "line", says)
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise wrong_line(number, "line", "it is not text in UTF-8") from error


def _reason(error: SettingError) -> str:
    return str(error)[:500].rstrip(".")
