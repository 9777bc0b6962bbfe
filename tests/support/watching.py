"""Watchers for tests."""

from __future__ import annotations

from tellback.lab import Listener


class Counting(Listener):
    """Notes how many rounds it was told of, and what else it was told."""

    def __init__(self, rounds: list[int] | None = None) -> None:
        self.rounds = [] if rounds is None else rounds
        self.notes: list[str] = []

    def begin(self, runs: int, rounds: int) -> None:
        self.rounds.clear()

    def played(self, rounds: int) -> None:
        self.rounds.append(rounds)

    def note(self, text: str) -> None:
        self.notes.append(text)
