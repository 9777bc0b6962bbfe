"""Listeners: told how far a study is."""

from __future__ import annotations


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
