"""Signatures of what is delivered to hooks, and how their receivers verify them."""

from __future__ import annotations

import hashlib
import hmac
import time

SIGNATURE = "Tellback-Signature"
EVENT = "Tellback-Event"
"""Names the event, always alike: what is delivered twice has the same."""


def signed(secret: str, body: bytes, at: int) -> str:
    """The signature of a body, as it stands in its header."""
    return f"t={at}, v1={_code(secret, body, str(at))}"


def verified(
    secret: str, header: str, body: bytes, *, within: float = 300.0, now: float | None = None
) -> bool:
    """Whether a body was signed with a secret, lately.

    Parameters
    ----------
    secret : str
        What was given when the hook was made.
    header : str
        The header ``Tellback-Signature``.
    body : bytes
        As it came, byte for byte.
    within : float
        The most seconds that may have passed, so that nobody sends it again much later.
    now : float, optional
        The time, in seconds since 1970.

    Examples
    --------
    >>> header = signed("secret", b"{}", at=1000)
    >>> verified("secret", header, b"{}", now=1010), verified("secret", header, b"[]", now=1010)
    (True, False)
    """
    parts = dict(part.strip().partition("=")[::2] for part in header.split(","))
    at = parts.get("t", "")
    if not (at.isascii() and at.isdecimal()) or len(at) > 15:
        return False
    fresh = abs((time.time() if now is None else now) - int(at)) <= within
    expected = _code(secret, body, at).encode()
    return fresh and hmac.compare_digest(expected, parts.get("v1", "").encode())


def _code(secret: str, body: bytes, at: str) -> str:
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
