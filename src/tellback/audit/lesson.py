"""Questions of an audit as a lesson in the classroom, and its answers.

Each question is a round with one response, shown as a text. The situation that the teacher is told
has the sentence in doubt. The teacher answers yes or no instead of a description, or skips.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tellback.audit.answers import Answers
from tellback.audit.audit import Judged
from tellback.audit.sentences import Place
from tellback.encoders.text import plain_words
from tellback.errors import SettingError
from tellback.files import atomic_write
from tellback.recordings import RecordedResponse, Recording
from tellback.recordings.lines import Lines

ANSWERS = ("yes", "no")
"""The answers of such a lesson: the Teach page has a button for each."""

YES = frozenset({"y", "yes", "right", "true", "correct"})
NO = frozenset({"n", "no", "wrong", "false", "incorrect"})
_MARK = " #"


class LessonAnswers(NamedTuple):
    """What a lesson has told.

    Attributes
    ----------
    answers : dict
        For each place whether the description is right; None if the teacher could not tell.
    unclear : tuple of str
        What teachers typed that is neither yes nor no.
    """

    answers: Answers
    unclear: tuple[str, ...]


def shown(response: RecordedResponse) -> str:
    """A response as a person is shown it, in a line."""
    parts = [
        response.text,
        "; ".join(" ".join(step) for step in response.steps),
        ", ".join(response.tokens),
        response.image,
        " ".join(f"{number:g}" for number in response.features),
    ]
    return " | ".join(part for part in parts if part)


def write_lesson(path: str | Path, questions: Iterable[Judged], recording: Recording) -> None:
    """Write questions as rounds that a lesson imports.

    It must have ``candidates="texts"``, and should have ``answers=ANSWERS``.
    """
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for one in questions:
            context = f"Somebody said: {one.said.text!r}. Is that what was done? Yes or no?"
            data = {
                # Teachers are not shown the request. It says what the round is about.
                "instruction": f"{one.place.response}{_MARK}{one.place.number}",
                "context": context,
                "texts": [shown(recording.by_id[one.place.response])],
                "response": 0,
            }
            file.write(json.dumps(data, ensure_ascii=False) + "\n")


def read_lesson(path: str | Path, recording: Recording) -> LessonAnswers:
    """The answers in the export of a lesson, as lines of JSON.

    Of several descriptions of a round the last counts; a withdrawn one does not. Rounds that are
    not about the recording are an error.
    """
    asked: dict[int, Place] = {}
    typed: dict[int, str | None] = {}
    lines = Lines(Path(path))
    for number, line in enumerate(lines, start=1):
        try:
            if isinstance(line, SettingError):
                raise line
            _event(line, recording, asked, typed)
        except (SettingError, ValueError, TypeError, AttributeError) as error:
            raise SettingError(
                f"{lines.place(number)} is no event of a lesson about this recording: {error}"
            ) from error
    answers, unclear = Answers(), []
    for at, text in typed.items():
        if text is None:
            answers[asked[at]] = None
            continue
        said = set(plain_words(text))
        if bool(said & YES) != bool(said & NO):
            answers[asked[at]] = bool(said & YES)
        else:
            unclear.append(text)
    return LessonAnswers(answers, tuple(unclear))


def _event(
    line: str, recording: Recording, asked: dict[int, Place], typed: dict[int, str | None]
) -> None:
    event: dict[str, Any] = json.loads(line)
    kind, at = event.get("kind"), event.get("round")
    if kind == "rolled_back":
        raise SettingError("A lesson that was rolled back cannot be read.")
    if not isinstance(at, int):
        return  # the heading, or an event that is about no round
    if kind == "asked":
        asked[at] = _place(event["data"]["instruction"], recording)
    elif kind == "described" and at in asked and "description" in event["data"]:
        typed[at] = str(event["data"]["description"])
    elif kind == "cannot_tell" and at in asked:
        typed[at] = None
    elif kind == "withdrawn":
        typed.pop(at, None)


def _place(instruction: str, recording: Recording) -> Place:
    name, mark, number = instruction.rpartition(_MARK)
    response = recording.by_id.get(name)
    if not mark or response is None or not number.isdigit():
        raise SettingError(f"The request {instruction!r} is no question of an audit.")
    if int(number) >= len(response.descriptions):
        raise SettingError(f"{name!r} has no description {number}.")
    return Place(name, int(number))
