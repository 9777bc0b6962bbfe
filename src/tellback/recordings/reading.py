"""Recordings from files, and into files."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tellback.errors import SettingError, one_of
from tellback.files import atomic_write
from tellback.recordings import alfred
from tellback.recordings.fields import response_from_data
from tellback.recordings.lines import Lines
from tellback.recordings.recording import RecordedResponse, Recording
from tellback.recordings.table import responses_in_table

SUFFIXES = (".jsonl", ".csv")
LEVELS = ("whole", "steps")
MOST_FAULTS = 100
"""So many are listed, of those there are."""


class Fault(NamedTuple):
    """Something wrong in a file.

    Attributes
    ----------
    where : str
        The line and the file.
    message : str
        The field, its value, and what is allowed.
    """

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class _Found(NamedTuple):
    """What a file has at a place: a response, or an error."""

    where: str
    what: RecordedResponse | SettingError


def read(path: str | Path, level: str = "whole") -> Recording:
    """The recording in a file or folder.

    Parameters
    ----------
    path : str or Path
        A ``.jsonl`` or ``.csv`` file, compressed by gzip or not, or a folder in ALFRED's layout.
        Lines of JSON may be in ALFRED's layout too.
    level : "whole" or "steps"
        Whether a response is a whole one of the file, or a described step of one.

    Raises
    ------
    SettingError
        At the first fault, with its line.
    """
    one_of("level", level, LEVELS)
    responses = []
    for found in _checked(Path(path)):
        if isinstance(found.what, SettingError):
            raise SettingError(str(Fault(found.where, str(found.what))))
        responses.append(found.what)
    recording = Recording(tuple(responses), folder_of(path))
    if level == "whole":
        return recording
    steps = recording.by_step()
    if not len(steps):
        raise SettingError(f"{path} has no descriptions of steps.")
    return steps


def faults(path: str | Path, most: int = MOST_FAULTS) -> list[Fault]:
    """The first faults of a file, one for a line; none if ``read`` takes it."""
    wrong = (
        Fault(found.where, str(found.what))
        for found in _checked(Path(path))
        if isinstance(found.what, SettingError)
    )
    return list(islice(wrong, most))


def write(path: str | Path, recording: Recording) -> None:
    """Write a recording as lines of JSON, whole or not at all; ``read`` gives the same.

    A name that ends in ``.gz`` is compressed.
    """
    path = Path(path)
    if _suffix(path) != ".jsonl":
        raise SettingError(f"A recording is written to a .jsonl or .jsonl.gz file, not {path}.")
    packed = path.suffix == ".gz"
    with atomic_write(path) as temporary, temporary.open("wb") as plain:
        # No name and no time in the header: the same recording gives the same bytes.
        file = gzip.GzipFile("", "wb", fileobj=plain, mtime=0) if packed else plain
        with file:
            for response in _moved(recording, path.parent):
                file.write(_encoded(response))


def folder_of(path: str | Path) -> Path:
    """The folder to which the paths of pictures are relative."""
    return Path(path) if Path(path).is_dir() else Path(path).parent


def _encoded(response: RecordedResponse) -> bytes:
    try:
        return (response.to_line() + "\n").encode()
    except UnicodeEncodeError as error:
        raise SettingError(f"Response {response.id!r} is not valid Unicode: {error}.") from error


def _moved(recording: Recording, folder: Path) -> Iterator[RecordedResponse]:
    """The responses, with the paths of pictures as seen from another folder."""
    here = Path(recording.folder).resolve() == folder.resolve()
    for response in recording:
        if response.image and not here:
            image = os.path.relpath(recording.picture_path(response), folder)
            response = replace(response, image=Path(image).as_posix())
        yield response


def _checked(path: Path) -> Iterator[_Found]:
    """What a file has, with what only shows when lines are compared."""
    folder = folder_of(path)
    first: RecordedResponse | None = None
    places: dict[str, str] = {}
    empty = True
    for where, what in _found(path):
        empty = False
        if isinstance(what, RecordedResponse):
            first = first or what
            try:
                _demand_alike(what, first)
                if what.image and not (folder / what.image).is_file():
                    raise SettingError(f"image must be a file, and {what.image!r} is none.")
                if what.id in places:
                    raise SettingError(f"id {what.id!r} is taken: {places[what.id]} has it.")
                places[what.id] = where
            except SettingError as error:
                what = error
        yield _Found(where, what)
    if empty:
        yield _Found(str(path), SettingError(f"There is no response in it.{_files_in(path)}"))


def _files_in(path: Path) -> str:
    """A hint where a folder of recordings is given for one of them."""
    files = sorted(file.name for file in path.glob("*") if _suffix(file) in SUFFIXES)
    return f" Name one of its files: {', '.join(files[:5])}." if files else ""


def _demand_alike(one: RecordedResponse, first: RecordedResponse) -> None:
    """Numbers and pictures cannot be left out of some responses."""
    if len(one.features) != len(first.features):
        raise SettingError(
            f"features must be {len(first.features)} numbers as in the first response, "
            f"not {len(one.features)}."
        )
    if bool(one.image) != bool(first.image):
        raise SettingError("image must be given for all responses or for none.")


def _found(path: Path) -> Iterator[_Found]:
    if path.is_dir():
        for file in sorted(path.rglob(alfred.FILE)):
            yield _in_alfred_file(file, path)
        return
    suffix = _suffix(path)
    if suffix not in SUFFIXES:
        raise SettingError(
            f"A recording is a {' or '.join(SUFFIXES)} file, .gz or not, or a folder in ALFRED's "
            f"layout, not {path}."
        )
    lines = Lines(path)
    if suffix == ".csv":
        yield from _in_table(lines)
    else:
        for number, line in enumerate(lines, start=1):
            if isinstance(line, SettingError) or line.strip():
                yield _Found(lines.place(number), _tried(line, _from_json))


def _in_alfred_file(file: Path, folder: Path) -> _Found:
    where = str(file.relative_to(folder))
    try:
        return _Found(where, _tried(file.read_bytes().decode(), _from_json))
    except (UnicodeDecodeError, OSError) as error:
        return _Found(where, SettingError(f"It cannot be read: {error}."))


def _in_table(lines: Lines) -> Iterator[_Found]:
    broken: list[SettingError] = []

    def texts() -> Iterator[str]:
        for line in lines:
            if isinstance(line, SettingError):
                broken.append(line)
                return
            yield line

    for number, data in responses_in_table(texts()):
        yield _Found(lines.place(number), _tried(data, response_from_data))
    for error in broken:
        yield _Found(lines.place(lines.read), error)


def _tried(data: Any, make: Callable[[Any], RecordedResponse]) -> RecordedResponse | SettingError:
    if isinstance(data, SettingError):
        return data
    try:
        return make(data)
    except SettingError as error:
        return error


def _from_json(line: str) -> RecordedResponse:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        said = getattr(error, "msg", error)  # without a line number, which is always 1
        raise SettingError(f"This is not JSON: {said}.") from error
    return response_of(data)


def response_of(data: Any) -> RecordedResponse:
    """The response of an object, in either layout."""
    if isinstance(data, dict) and alfred.MARK in data:
        return alfred.response_from_alfred(data)
    return response_from_data(data)


def _suffix(path: Path) -> str:
    return Path(path.stem if path.suffix == ".gz" else path.name).suffix
