"""Answers of people about descriptions, in a file: a line of JSON for each.

``{"response": "r1", "number": 0, "text": "put the mug away", "right": true}``: the response, the
number of the description among its descriptions, from 0, and its text, so that answers
to another recording are noticed. ``right`` is true, false, or null if the person could not
tell. A line without ``right`` is a question that nobody has answered. Later lines replace earlier
ones.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from reprlib import repr as short
from types import TracebackType
from typing import Any, Self

from tellback.audit.audit import Judged
from tellback.audit.sentences import Place
from tellback.errors import SettingError, TellbackError, unknown_name
from tellback.files import atomic_write
from tellback.recordings import Recording
from tellback.recordings.lines import Lines

Answers = dict[Place, bool | None]


def read_answers(path: str | Path, recording: Recording) -> Answers:
    """The answers of a file about the descriptions of a recording.

    The rest of a line whose writer was killed is passed over.

    Raises
    ------
    SettingError
        At the first line that is wrong, with its number.
    """
    path = Path(path)
    lines, answers = Lines(path), Answers()
    torn = _torn(path)
    total = sum(1 for _ in Lines(path))
    for number, line in enumerate(lines, start=1):
        try:
            if isinstance(line, SettingError):
                raise line
            if line.strip():
                answers |= _answer(_data(line), recording)
        except TellbackError as error:
            if torn and number == total:
                break
            raise SettingError(f"{lines.place(number)}: {error}") from error
    return answers


class AnswerFile:
    """A file to which answers are added, each at once: none is lost if the process is killed.

    Parameters
    ----------
    path : str or Path
        The file; it may exist.
    recording : Recording
        What the answers are about.
    """

    def __init__(self, path: str | Path, recording: Recording) -> None:
        self.path = Path(path)
        self._recording = recording
        exists = self.path.exists()
        self.answers = read_answers(self.path, recording) if exists else Answers()
        self._file = self.path.open("r+b" if exists else "w+b")
        if exists:
            _mend(self._file, _torn(self.path))

    def add(self, place: Place, right: bool | None) -> None:
        """Write an answer, and wait until the disk has it."""
        line = json.dumps({**_question(place, self._recording), "right": right}, ensure_ascii=False)
        self._file.write(line.encode(errors="surrogatepass") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.answers[place] = right

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._file.close()


def write_questions(path: str | Path, questions: Iterable[Judged], recording: Recording) -> None:
    """Write questions to be answered elsewhere: add ``right`` to each line."""
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for one in questions:
            question = _question(one.place, recording)
            question["shown"] = recording.by_id[one.place.response].to_data()
            del question["shown"]["descriptions"]
            question["shown"].pop("step_descriptions", None)
            file.write(json.dumps(question, ensure_ascii=False) + "\n")


def _question(place: Place, recording: Recording) -> dict[str, Any]:
    text = recording.by_id[place.response].descriptions[place.number].text
    return {"response": place.response, "number": place.number, "text": text}


def _torn(path: Path) -> bool:
    """Whether the last line has no end."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _mend(file: Any, torn: bool) -> None:
    """Go to the end of the file. A last line without an end is ended, or removed if broken."""
    end = file.seek(0, os.SEEK_END)
    if not torn:
        return
    file.seek(0)
    last = file.read().rsplit(b"\n", 1)[-1]
    try:
        _data(last.decode())
        file.seek(end)
        file.write(b"\n")
    except (SettingError, UnicodeDecodeError):
        file.seek(end - len(last))
        file.truncate()


def _data(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SettingError(f"This is not JSON: {error}.") from error
    if not isinstance(data, dict):
        raise SettingError(f"A line must be an object, not {short(data)}.")
    return data


def _answer(data: dict[str, Any], recording: Recording) -> Answers:
    name, number, text = (data.get(field) for field in ("response", "number", "text"))
    if not isinstance(name, str):
        raise SettingError(f"response must be the id of a response, not {short(name)}.")
    response = recording.by_id.get(name)
    if response is None:
        raise unknown_name("response", short(name)[1:-1], list(recording.by_id)[:10])
    said = response.descriptions
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(said):
        raise SettingError(
            f"number must be from 0 to {len(said) - 1}, the descriptions of {name!r}, "
            f"not {short(number)}."
        )
    if text != said[number].text:
        raise SettingError(
            f"text must be the description {number} of {name!r}, {short(said[number].text)}, "
            f"not {short(text)}. Is the answer about another recording?"
        )
    if "right" not in data:
        return {}
    right = data["right"]
    if right is not None and not isinstance(right, bool):
        raise SettingError(f"right must be true, false or null, not {short(right)}.")
    return {Place(name, number): right}
