"""Secrets that are handed out once, and of which only digests are kept."""

from __future__ import annotations

import hashlib
import secrets

TOKEN = "tb_"
"""How a token begins, so that one that leaked is recognised."""


def new_secret(prefix: str = "") -> str:
    """What nobody guesses: 256 bits from the system."""
    return prefix + secrets.token_urlsafe(32)


def new_id() -> str:
    """A name for a row; no secret."""
    return secrets.token_hex(10)


def digest(secret: str) -> str:
    """What is kept of a secret.

    A secret of 256 random bits needs no salt and no slow hash: there is nothing to guess.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
