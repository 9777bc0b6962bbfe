"""A recorded response from the data of a line, or an error that names the field."""

from __future__ import annotations

from collections.abc import Callable
from reprlib import repr as short
from typing import Any, TypeVar

from tellback.errors import SettingError, real, unknown_name
from tellback.recordings.recording import MOST, RecordedResponse, Said

CONTENT = ("features", "steps", "tokens", "text", "image")
"""The fields that say what was done; a response has at least one of them."""

FIELDS = ("id", "group", "goal", *CONTENT, "descriptions", "step_descriptions")

LOG_FIELDS = ("propensities", "propensity")
"""A line with one of these is of an agent's log: the first line, or a round."""

LONGEST_NAME = 60
"""So much of an unknown name is shown."""

T = TypeVar("T")


def response_from_data(data: Any) -> RecordedResponse:
    """The response that ``RecordedResponse.to_data`` described."""
    if not isinstance(data, dict):
        raise SettingError(f"A response is an object with the fields {', '.join(FIELDS)}.")
    if any(name in data for name in LOG_FIELDS):
        raise SettingError(
            "This is a line of an agent's log, not a recorded response. Make a recording of it: "
            "tellback data export LOG RECORDING.jsonl --as recording."
        )
    _demand_known("field", data, FIELDS)
    for name in ("id", "group", "descriptions"):
        if name not in data:
            raise SettingError(f"{name} is missing.")
    if not any(data.get(name) for name in CONTENT):
        raise SettingError(f"A response needs one of {', '.join(CONTENT)}: none is given.")
    response = RecordedResponse(
        id=text("id", data["id"]),
        group=text("group", data["group"]),
        descriptions=_each("descriptions", data["descriptions"], _said),
        goal=text("goal", data.get("goal", ""), empty=True),
        features=_each("features", data.get("features", []), _number),
        steps=_each("steps", data.get("steps", []), _step),
        tokens=_each("tokens", data.get("tokens", []), text),
        text=text("text", data.get("text", ""), empty=True),
        image=text("image", data.get("image", ""), empty=True),
        step_descriptions=_each("step_descriptions", data.get("step_descriptions", []), _saids),
    )
    steps, described = len(response.steps), len(response.step_descriptions)
    if described not in (0, steps):
        raise SettingError(
            f"step_descriptions must have a list for each of the {steps} steps, not {described}."
        )
    return response


def text(name: str, value: Any, empty: bool = False) -> str:
    """The value as a text, or an error that names the field."""
    if not isinstance(value, str) or not (empty or value.strip()):
        wanted = "a text" if empty else "a text that is not empty"
        raise SettingError(f"{name} must be {wanted}, not {short(value)}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise SettingError(f"{name} must be valid Unicode, not {short(value)}.") from error
    return value


def _demand_known(kind: str, data: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in data:
        if name not in known:
            raise SettingError(str(unknown_name(kind, name[:LONGEST_NAME], known)))


def _each(name: str, values: Any, one: Callable[[str, Any], T]) -> tuple[T, ...]:
    if not isinstance(values, list):
        raise SettingError(f"{name} must be a list, not {short(values)}.")
    return tuple(one(f"{name}[{i}]", value) for i, value in enumerate(values))


def _number(name: str, value: Any) -> float:
    try:
        number = real(name, value)
    except SettingError as error:
        raise SettingError(f"{name} must be a finite number, not {short(value)}.") from error
    return real(name, number, at_least=-MOST, at_most=MOST)


def _step(name: str, value: Any) -> tuple[str, ...]:
    step = (text(name, value),) if isinstance(value, str) else _each(name, value, text)
    if not step:
        raise SettingError(f"{name} must say what was done, not {short(value)}.")
    return step


def _saids(name: str, values: Any) -> tuple[Said, ...]:
    return _each(name, values, _said)


def _said(name: str, value: Any) -> Said:
    if isinstance(value, str):
        return Said(text(name, value))
    if not isinstance(value, dict) or "text" not in value:
        raise SettingError(f"{name} must be a text, or an object with text, not {short(value)}.")
    _demand_known(f"field of {name} named", value, Said._fields)
    person = value.get("person", "")
    if isinstance(person, int) and not isinstance(person, bool):
        person = str(person)
    return Said(
        text(f"{name}.text", value["text"]), text(f"{name}.person", person or "", empty=True)
    )
