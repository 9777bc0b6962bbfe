"""The curve of own material before its exam began.

The exam begins with some held-out descriptions, which takes a while. By then the agent was taught
for as long. A new agent is taught the same again, and examined on the way.
"""

from __future__ import annotations

from collections.abc import Iterator

from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.active import read_active
from tellback.classroom.store.database import Connection
from tellback.classroom.store.progress import CurvePoint

EVERY = 5
"""Descriptions between two points."""

MOST_TAUGHT = 200
"""Of more descriptions, which came with the material, there is no earlier curve."""


def early_points(learner: Learner, connection: Connection) -> Iterator[tuple[int, CurvePoint]]:
    """Points with the event of each, from the first description on, without the latest."""
    taught = list(read_active(connection, learner.lesson))
    if len(taught) > MOST_TAUGHT:
        return
    agent = LessonAgent(learner.definition)
    for number, one in enumerate(taught[:-1], start=1):
        agent.add(one)
        if number == 1 or number % EVERY == 0:
            right = learner.exam.right(learner.exam.answers(agent)) or []
            yield one.seq, CurvePoint(agent.learned, sum(right), len(right))
