"""Secrets: shown once, and stored as digests."""

from __future__ import annotations

import hashlib
import secrets

TOKEN = "tb_"
"""Prefix of tokens, so that a leaked one is recognised."""


ID_PATTERN = "^[0-9a-f]{20}$"
"""What ``new_id`` makes."""


def new_secret(prefix: str = "") -> str:
    """256 random bits from the system."""
    return prefix + secrets.token_urlsafe(32)


def new_id() -> str:
    """A random id of a row; no secret."""
    return secrets.token_hex(10)


def digest(secret: str) -> str:
    """Digest of a secret, to be stored.

    256 random bits cannot be guessed, so they need no salt and no slow hash.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
