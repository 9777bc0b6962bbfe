"""The exam of one's own material: held-out descriptions as requests.

A request is what somebody said of a response that was drawn at random, and that response is the
right answer, among those that were shown with it. Other responses may fit, too, so the share of
requests met is cautious.
"""

from __future__ import annotations

from typing import NamedTuple

from tellback.classroom.learning.content import features_from
from tellback.classroom.store.database import Connection
from tellback.classroom.store.held_out import held_out_events, read_held_out
from tellback.responses import Listed
from tellback.roles import Task

FEWEST = 10
"""Below this number of held-out descriptions there is no exam, and so no curve."""

MOST = 200
"""Requests of an exam: those of the latest held-out descriptions."""


class Described(NamedTuple):
    """The context of a request: the response that was described."""

    response: int


class OfDescriptions:
    """The truth: the response that the request was said of."""

    def reward(self, task: Task, response: int) -> float:
        """1 for the response that was described, else 0."""
        return float(response == task.context.response)

    def best(self, task: Task) -> float:
        """One of the responses was described."""
        return 1.0


class HeldOutRequests:
    """The requests of the exam of a lesson, read again when there are others."""

    def __init__(self, lesson: str, dim: int) -> None:
        self._lesson, self._dim = lesson, dim
        self._events: list[int] = []
        self.tasks: list[Task] = []

    def update(self, connection: Connection) -> bool:
        """Read the requests; False if they are the same as before."""
        events = held_out_events(connection, self._lesson, MOST)
        if events == self._events:
            return False
        self._events = events
        if len(events) < FEWEST:
            self.tasks = []
        else:
            self.tasks = [
                Task(
                    Described(one.response),
                    one.description,
                    Listed(features_from(one.features, self._dim)),
                )
                for one in read_held_out(connection, self._lesson, MOST)
            ]
        return True
