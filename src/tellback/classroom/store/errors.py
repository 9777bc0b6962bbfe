"""Errors of the store."""

from __future__ import annotations

from tellback.errors import TellbackError


class ConflictError(TellbackError):
    """A change that conflicts with what is stored.

    ``code`` is the reason in a word that does not change, ``says`` the reason in a sentence, and
    ``field`` the part of the request that is wrong.
    """

    def __init__(self, code: str, says: str, field: str | None = None) -> None:
        super().__init__(says)
        self.code = code
        self.field = field
