"""One's own material from files of this machine: a folder of pictures, or a table of texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tellback.classroom.learning.collecting import Collected, OwnResponse
from tellback.errors import SettingError
from tellback.recordings import RecordedResponse
from tellback.recordings.fields import response_from_data
from tellback.recordings.lines import Lines
from tellback.recordings.table import OWN_GROUP, responses_in_table

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
LARGEST_PICTURE = 100_000_000
"""Pixels of a picture on one's own machine, such as a photograph."""


def pictures_in(folder: Path, frames: bool = False) -> list[OwnResponse]:
    """A response for each picture of a folder and the folders in it, in the order of their names.

    With ``frames``, each folder in it is a response: a strip of its pictures.
    """
    if not folder.is_dir():
        raise SettingError(f"There is no folder {folder}.")
    files = _files(folder)
    if not frames:
        strips = [[file] for file in files]
    else:
        names = sorted({file.parent for file in files if file.parent != folder})
        strips = [[file for file in files if file.parent == name] for name in names]
    if not strips:
        inside = " in a folder of its own" if frames else ""
        raise SettingError(f"{folder} has no picture{inside} ({', '.join(SUFFIXES)}).")
    return [
        OwnResponse(RecordedResponse(str(place), OWN_GROUP, ()), [_reader(one) for one in strip])
        for place, strip in enumerate(strips)
    ]


def _files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith(".")
    )


def _reader(path: Path) -> Callable[[], bytes]:
    return partial(path.read_bytes)


def texts_in(path: Path) -> list[OwnResponse]:
    """A response for each row of a CSV table with a column ``text``, or with one column."""
    if not path.is_file():
        raise SettingError(f"There is no file {path}.")
    lines = Lines(path)

    def texts() -> Iterator[str]:
        for line in lines:
            if isinstance(line, SettingError):
                raise SettingError(f"{lines.place(lines.read)}: {line}")
            yield line

    found = []
    for number, data in responses_in_table(texts(), texts=True):
        if isinstance(data, SettingError):
            raise SettingError(f"{lines.place(number)}: {data}")
        try:
            found.append(OwnResponse(response_from_data(data)))
        except SettingError as error:
            raise SettingError(f"{lines.place(number)}: {error}") from error
    return found


def own_lesson_id(collected: Collected, path: Path) -> str:
    """The id of the lesson of some files: the same for the same content and settings."""
    words = re.sub("[^a-z0-9]+", "-", path.name.split(".")[0].lower()).strip("-")
    settings = hashlib.sha256(repr(collected.material).encode()).hexdigest()
    return f"{words[:24] or 'own'}-{settings[:8]}"
