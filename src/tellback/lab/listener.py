"""Who watches a study: told what happens, and free to ignore it."""

from __future__ import annotations


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
