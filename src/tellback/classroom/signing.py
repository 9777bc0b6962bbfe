"""Signatures of deliveries to webhooks, and their verification."""

from __future__ import annotations

import hashlib
import hmac
import time

SIGNATURE = "Tellback-Signature"
EVENT = "Tellback-Event"
"""Names the event: deliveries of the same event have the same value."""


def signed(secret: str, body: bytes, at: int) -> str:
    """The signature of a body: the value of its header."""
    return f"t={at}, v1={_code(secret, body, str(at))}"


def verified(
    secret: str, header: str, body: bytes, *, within: float = 300.0, now: float | None = None
) -> bool:
    """Whether a body was signed with a secret, and recently.

    Parameters
    ----------
    secret : str
        The secret of the webhook.
    header : str
        The header ``Tellback-Signature``.
    body : bytes
        The body, byte for byte.
    within : float
        The most seconds since it was signed, against replays.
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
