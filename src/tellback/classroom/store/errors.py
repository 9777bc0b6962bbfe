"""Errors of the store."""

from __future__ import annotations

from tellback.errors import TellbackError


class ConflictError(TellbackError):
    """A change that conflicts with the state of a round or lesson.

    Parameters
    ----------
    code : str
        The reason in a word that does not change.
    says : str
        The reason in a sentence.
    field : str, optional
        The part of the request that is wrong.
    """

    def __init__(self, code: str, says: str, field: str | None = None) -> None:
        super().__init__(says)
        self.code = code
        self.field = field
