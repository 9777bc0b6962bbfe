"""The layout of ALFRED: a ``traj_data.json`` for each trajectory (Shridhar et al. 2020)."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

from tellback.errors import SettingError
from tellback.recordings.fields import response_from_data
from tellback.recordings.recording import RecordedResponse

FILE = "traj_data.json"
MARK = "turk_annotations"
"""The field by which a line in this layout is known."""

IDLE = "NoOp"


def response_from_alfred(data: dict[str, Any]) -> RecordedResponse:
    """A trajectory: its steps without idle ones, and what each person said of it and of them.

    The group is the room. The goal is the sort of task with its parameters. A person whose
    sentences about steps are more or fewer than the steps has said nothing of them.
    """
    actions = [_at(one, "discrete_action") for one in _list(data, "plan", "high_pddl")]
    steps = [
        [_at(action, "action"), *filter(None, _list(action, "args"))]
        for action in actions
        if _at(action, "action") != IDLE
    ]
    people = _list(data, MARK, "anns")
    told = [(_at(one, "task_desc"), _list(one, "high_descs"), _person(one)) for one in people]
    fitting = [(of_steps, who) for _, of_steps, who in told if _fits(of_steps, steps)]
    by_step = [
        [{"text": of_steps[i], "person": who} for of_steps, who in fitting]
        for i in range(len(steps))
    ]
    return response_from_data(
        {
            "id": _at(data, "task_id"),
            "group": str(_at(data, "scene", "scene_num")),
            "goal": _goal(data),
            "steps": steps,
            "descriptions": [{"text": whole, "person": who} for whole, _, who in told],
            "step_descriptions": by_step if fitting else [],
        }
    )


def _goal(data: dict[str, Any]) -> str:
    parameters = _at(data, "pddl_params")
    if not isinstance(parameters, dict):
        raise SettingError(f"pddl_params must be an object, not {short(parameters)}.")
    named = [f"{name}={value}" for name, value in sorted(parameters.items()) if value]
    return " ".join([str(_at(data, "task_type")), *named])


def _person(annotation: dict[str, Any]) -> Any:
    return annotation.get("person", annotation.get("assignment_id", ""))


def _fits(sentences: list[Any], steps: list[Any]) -> bool:
    return len(sentences) == len(steps) and all(one and str(one).strip() for one in sentences)


def _at(data: Any, *names: str) -> Any:
    """The value below some names, or an error that says which is missing."""
    for i, name in enumerate(names):
        if not isinstance(data, dict) or name not in data:
            raise SettingError(f"{'.'.join(names[: i + 1])} is missing.")
        data = data[name]
    return data


def _list(data: Any, *names: str) -> list[Any]:
    value = _at(data, *names)
    if not isinstance(value, list):
        raise SettingError(f"{'.'.join(names)} must be a list, not {short(value)}.")
    return value
