"""What can go wrong between a program and a classroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tellback.errors import TellbackError

if TYPE_CHECKING:
    import httpx


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
    """A service that does not answer, or an answer that was lost."""


def accepted(answer: httpx.Response) -> httpx.Response:
    """The answer, unless it is a refusal: then a ``ProblemError``."""
    if answer.is_success:
        return answer
    try:
        problem = answer.json()
        code, detail, field = problem["code"], problem["detail"], problem["field"]
    except (ValueError, KeyError, TypeError):  # not by the service: a proxy, perhaps
        code, field = "unknown", None
        detail = f"It answered {answer.status_code}: {answer.text[:200]}"
    raise ProblemError(answer.status_code, code, detail, field)
