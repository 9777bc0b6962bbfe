"""Word of a credential that ended, for all processes of a service.

They share a few bytes of memory. Whoever ends a session or a token writes other bytes there, after
the database has it and before the answer. So no process accepts a credential from its cache after
the request that ended it was answered.
"""

from __future__ import annotations

import mmap
import secrets
from pathlib import Path

SIZE = 8


class Revocations:
    """The shared bytes: those of a file, or of this process alone."""

    def __init__(self, file: Path | None = None) -> None:
        if file is None:
            self._shared = mmap.mmap(-1, SIZE)
        else:
            with file.open("r+b") as opened:
                self._shared = mmap.mmap(opened.fileno(), SIZE)

    @property
    def latest(self) -> bytes:
        """Changes whenever a credential ended."""
        return self._shared[:SIZE]

    def announce(self) -> None:
        """Say that a credential ended."""
        # Random, not one more: two processes that count at once could come to the same number.
        self._shared[:SIZE] = secrets.token_bytes(SIZE)
