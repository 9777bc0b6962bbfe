"""What can go wrong between a program and a classroom."""

from __future__ import annotations

from tellback.errors import TellbackError


class ProblemError(TellbackError):
    """A request that the service refused, with the problem document of its answer (RFC 9457).

    Attributes
    ----------
    status : int
        The HTTP status.
    code : str
        What is wrong, in a word that does not change.
    field : str or None
        The part of the request that is wrong.
    """

    def __init__(self, status: int, code: str, detail: str, field: str | None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.field = field


class UnreachableError(TellbackError):
    """A service that does not answer, after several attempts."""
