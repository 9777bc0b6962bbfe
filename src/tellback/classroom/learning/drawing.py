"""Drawings of responses that are too many to list."""

from __future__ import annotations

from typing import Any

from tellback.roles import Task
from tellback.worlds.house_drawing import draw_house


def drawing_of(task: Task, response: Any = None) -> str:
    """A response as an SVG: a path that draws itself on the floor plan; or the plan alone."""
    return draw_house(task.context, response, animated=True)
