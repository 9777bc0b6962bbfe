"""Problems: the answers to requests that are refused (RFC 9457).

A problem document has ``type``, ``title``, ``status`` and ``detail``. Our extensions are ``code``,
a word for programs that does not change; ``field``, the part of the request that is wrong; and
``retry_after``, the seconds after which the same request may succeed. The type is an address of
this service, ``/problems#code``, a page that lists all codes with their titles.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from http import HTTPStatus

from tellback.errors import TellbackError

MEDIA_TYPE = "application/problem+json"
PAGE = "/problems"

TITLES = {
    "ambiguous": "Two accounts are called so",
    "archived": "The lesson is in the archive",
    "bad_host": "The request must name one host",
    "bad_request": "The request cannot be read",
    "busy": "The service is busy",
    "checked": "The round was checked by you before",
    "claimed": "The round is with somebody else",
    "database_unavailable": "The database does not answer",
    "described": "The round is described already",
    "disabled": "The account is disabled",
    "exists": "The id is taken",
    "forbidden": "The caller may not do that",
    "internal_error": "The service failed",
    "invalid": "A value is not allowed",
    "key_reused": "The idempotency key belongs to another request",
    "last_admin": "The last admin must stay",
    "method_not_allowed": "The address has no such method",
    "name_taken": "The name is taken",
    "no_accounts": "This classroom has no accounts",
    "not_claimed": "The round was not given to you",
    "not_described": "The round has no description",
    "not_known": "The round has no known answers",
    "not_found": "Not found",
    "not_signed_in": "The caller is not signed in",
    "not_yours": "The round is somebody else's",
    "other_account": "The page belongs to another account",
    "other_origin": "The request came from another site",
    "one_response": "The round shows one response only",
    "own": "Somebody else must check your description",
    "rate_limited": "Too many requests",
    "too_large": "The body is too large",
    "too_many_webhooks": "The lesson has too many webhooks",
    "unknown_host": "The service is not known by that name",
    "wrong_password": "The name or the password is wrong",
}
"""A title for each code."""


class Problem(TellbackError):  # noqa: N818 - the name of RFC 9457
    """A request that is refused, with the HTTP status and one of the codes of ``TITLES``."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        field: str | None = None,
        *,
        retry_after: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.field = field
        self.retry_after = retry_after
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(retry_after)

    def body(self) -> bytes:
        """The problem document."""
        document = {
            "type": f"{PAGE}#{self.code}",
            "title": TITLES.get(self.code, HTTPStatus(self.status).phrase),
            "status": self.status,
            "detail": str(self),
            "code": self.code,
            "field": self.field,
            "retry_after": self.retry_after,
        }
        return json.dumps(document).encode()


def not_found(what: str) -> Problem:
    """There is no such thing, or the caller must not know of it."""
    return Problem(404, "not_found", f"There is no {what}.")


def forbidden(detail: str) -> Problem:
    """The caller may not do that."""
    return Problem(403, "forbidden", detail)


def other_origin(detail: str) -> Problem:
    """A page of another site made the browser send this."""
    return Problem(403, "other_origin", detail)


def invalid(field: str, detail: str) -> Problem:
    """A value is not allowed."""
    return Problem(422, "invalid", detail, field)


def unauthorized(code: str, detail: str) -> Problem:
    """The caller is not known."""
    return Problem(401, code, detail, headers={"WWW-Authenticate": "Bearer"})


def rate_limited(seconds: float) -> Problem:
    """The caller must wait."""
    wait = max(1, math.ceil(seconds))
    detail = f"Too many requests: try again in {wait} s."
    return Problem(429, "rate_limited", detail, retry_after=wait)


def busy(detail: str, retry_after: int) -> Problem:
    """The service has too much to do."""
    return Problem(503, "busy", detail, retry_after=retry_after)


def database_unavailable() -> Problem:
    """The database does not answer; its transaction had no effect."""
    detail = "The database does not answer. Nothing was changed: try again."
    return Problem(503, "database_unavailable", detail, retry_after=1)
