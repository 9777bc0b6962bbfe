"""The credential of a request: a token, or the cookie of a session."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import cookie_parser
from starlette.types import Scope

from tellback.classroom.store.secrets import digest

LONGEST = 200
_BEARER = b"bearer "


class Credential(NamedTuple):
    """A token or the secret of a session, not yet verified."""

    secret: str
    from_cookie: bool

    @property
    def key(self) -> tuple[bool, str]:
        """Tells it from all others: a session is no token, whatever its secret."""
        return self.from_cookie, digest(self.secret)


def cookie_name(secure: bool) -> str:
    """The session's cookie; browsers accept a ``__Host-`` cookie over HTTPS from this host only."""
    return "__Host-tellback-session" if secure else "tellback-session"


def credential_of(scope: Scope, secure: bool) -> Credential | None:
    """The token in ``Authorization``, or else the session in the cookie."""
    cookies: list[bytes] = []
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == _BEARER:
            return _credential(value[7:].strip().decode("latin-1"), False)
        if name == b"cookie":
            cookies.append(value)
    if not cookies:
        return None
    found = cookie_parser(b"; ".join(cookies).decode("latin-1")).get(cookie_name(secure))
    return _credential(found, True) if found else None


def _credential(secret: str, from_cookie: bool) -> Credential:
    return Credential(secret if len(secret) <= LONGEST else "", from_cookie)
