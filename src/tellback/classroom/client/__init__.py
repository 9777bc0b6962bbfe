"""A client: ask an agent for responses and teach it, from a program elsewhere.

client = Client("http://127.0.0.1:8765")
lesson = client.create_lesson("robot", dim=4)
round = lesson.ask("go to the door", features=[[0.1, ...], [0.7, ...]])
round.response                        # what to do
round.describe("went to the window")  # what that was
"""

from __future__ import annotations

from tellback.classroom.client.asynchronous import AsyncClient, AsyncLesson, AsyncRound
from tellback.classroom.client.connection import Client
from tellback.classroom.client.errors import ProblemError, UnreachableError
from tellback.classroom.client.lessons import Preview, RemoteLesson, RemoteRound
from tellback.classroom.signing import verified

__all__ = [
    "AsyncClient",
    "AsyncLesson",
    "AsyncRound",
    "Client",
    "Preview",
    "ProblemError",
    "RemoteLesson",
    "RemoteRound",
    "UnreachableError",
    "verified",
]
