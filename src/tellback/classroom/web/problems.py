"""Refusals: each has a status, a name for programs, and a sentence for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from tellback.errors import TellbackError


class Problem(TellbackError):  # noqa: N818 - as RFC 9457 has it
    """A request that is refused.

    Parameters
    ----------
    status : int
        Of HTTP.
    code : str
        What is wrong, in a word that does not change.
    says : str
        What is wrong, in a sentence.
    field : str, optional
        Which part of the request.
    headers : mapping, optional
        What else the answer says, such as when to try again.
    """

    def __init__(
        self,
        status: int,
        code: str,
        says: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(says)
        self.status = status
        self.code = code
        self.field = field
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        """The answer, as JSON."""
        error = {"code": self.code, "says": str(self), "field": self.field}
        return json.dumps({"error": error}).encode()


def not_found(what: str) -> Problem:
    """There is no such thing, or it is none of the caller's business."""
    return Problem(404, "not_found", f"There is no {what}.")


def forbidden(says: str) -> Problem:
    """The caller may not do that."""
    return Problem(403, "forbidden", says)


def conflict(code: str, says: str) -> Problem:
    """It does not fit with what is there."""
    return Problem(409, code, says)


def unfit(field: str, says: str) -> Problem:
    """A value that is not allowed."""
    return Problem(422, "unfit", says, field)


def not_signed_in(says: str = "Sign in, or bring a token.") -> Problem:
    """Nobody knows who calls."""
    return Problem(401, "not_signed_in", says, headers={"WWW-Authenticate": "Bearer"})


def too_many(seconds: float) -> Problem:
    """The caller must wait."""
    wait = max(1, math.ceil(seconds))
    says = f"Too many requests: try again in {wait} s."
    return Problem(429, "too_many", says, headers={"Retry-After": str(wait)})
