"""Listeners: told how far a study is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tellback.lab.wording import counted
from tellback.notebooks import NotebookBar, in_notebook

if TYPE_CHECKING:
    from tellback.lab.results import Results


class Listener:
    """Ignores everything; override the methods of interest."""

    def begin(self, runs: int, rounds: int) -> None:
        """The total number of runs and rounds, stored ones included.

        Called again when the total changes; rounds then count from zero again.
        """

    def played(self, rounds: int) -> None:
        """More rounds are done."""

    def found(self, runs: int, of: int) -> None:
        """``runs`` of the ``of`` runs were stored already."""

    def preparing(self, what: str, done: int, total: int) -> None:
        """Progress of a world's preparation, such as the training of an encoder."""

    def note(self, text: str) -> None:
        """A message for the user."""

    def complete(self, results: Results) -> None:
        """A study has all its runs, while others may still be played."""


class ProgressListener(Listener):
    """Counts rounds; ``show`` is told what is done, of how much, and ``say`` every message."""

    def __init__(
        self, show: Callable[[str, int, int], object], say: Callable[[str], object]
    ) -> None:
        self._show, self._say = show, say
        self._runs = self._rounds = self._done = 0

    def begin(self, runs: int, rounds: int) -> None:
        """Count from zero."""
        self._runs, self._rounds, self._done = runs, rounds, 0

    def played(self, rounds: int) -> None:
        """Show the rounds that are done."""
        # A run that is tried again counts its rounds twice.
        self._done = min(self._done + rounds, self._rounds)
        self._show(f"{counted(self._runs, 'run')}, rounds", self._done, self._rounds)

    def preparing(self, what: str, done: int, total: int) -> None:
        """Show how much is prepared."""
        self._show(what, done, total)

    def note(self, text: str) -> None:
        """Say it."""
        self._say(text)


def usual_listener() -> Listener:
    """Bars in a notebook; elsewhere nothing is shown unless it is asked for."""
    return ProgressListener(NotebookBar(), print) if in_notebook() else Listener()
