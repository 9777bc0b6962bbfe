"""Who watches a study: told what happens, and free to ignore it."""

from __future__ import annotations

from collections.abc import Callable

from tellback.notebooks import NotebookBar, in_notebook


class Listener:
    """Told how far a study is. This one ignores it; override what is of interest."""

    def begin(self, runs: int, rounds: int) -> None:
        """So many runs and rounds will be done, those found done included.

        Told again, counting from zero, whenever more is known of what is to be done.
        """

    def played(self, rounds: int) -> None:
        """So many more rounds are done."""

    def found(self, runs: int, of: int) -> None:
        """So many of the runs were in the store already."""

    def preparing(self, what: str, done: int, total: int) -> None:
        """How much of a world's preparation is done, such as the training of an encoder."""

    def note(self, text: str) -> None:
        """Something that the user should know."""


class ProgressListener(Listener):
    """Counts rounds, and passes on what to show.

    Parameters
    ----------
    show : callable
        Told what is counted, how much of it is done, and of how much.
    say : callable
        Told what the user should know.
    """

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
        self._show(f"{self._runs:,} runs, rounds", self._done, self._rounds)

    def preparing(self, what: str, done: int, total: int) -> None:
        """Show how much is prepared."""
        self._show(what, done, total)

    def note(self, text: str) -> None:
        """Say it."""
        self._say(text)


def usual_listener() -> Listener:
    """Bars in a notebook; elsewhere nothing is shown unless it is asked for."""
    return ProgressListener(NotebookBar(), print) if in_notebook() else Listener()
