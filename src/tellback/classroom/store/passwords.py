"""Passwords: hashed slowly, with salt, and compared in constant time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import unicodedata
from typing import NamedTuple

from tellback.classroom.turns import Turns
from tellback.errors import FieldError

SHORTEST = 10
LONGEST = 200


class Cost(NamedTuple):
    """The parameters of scrypt (Percival, 2009); memory is 128 n r bytes."""

    n: int
    r: int
    p: int


COST = Cost(2**15, 8, 3)
"""32 MB and some tenths of a second a guess: one of the settings that OWASP (2023) recommends."""

HASHING = Turns("Too many are signing in just now: try again in a moment.", at_once=2)
"""A flood of guesses must not take all memory and cores."""


def hash_password(password: str) -> str:
    """A password as it is stored: the parameters, the salt and the hash."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise FieldError(
            "password",
            f"A password must have from {SHORTEST} to {LONGEST} characters, not {len(password)}.",
        )
    return _hashed(password, COST, secrets.token_bytes(16))


def verify_password(password: str, kept: str | None) -> bool:
    """Whether a password has this stored hash.

    Without a hash (the name is unknown) it is False, and takes equally long.
    """
    if len(password) > LONGEST:
        return False
    try:
        scheme, n, r, p, salt, _ = (kept or "").split("$")
        known = scheme == "scrypt"
        cost = Cost(int(n), int(r), int(p))
        salted = base64.b64decode(salt)
    except ValueError:
        known, cost, salted = False, COST, bytes(16)
    found = _hashed(password, cost, salted)
    return hmac.compare_digest(found.encode(), (kept or "").encode()) and known


def _hashed(password: str, cost: Cost, salt: bytes) -> str:
    # The same letters from another keyboard are the same password.
    typed = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    memory = 256 * cost.n * cost.r + 2**20  # a limit; it takes half of that
    with HASHING:
        found = hashlib.scrypt(typed, salt=salt, **cost._asdict(), maxmem=memory, dklen=32)
    numbers = "$".join(str(number) for number in cost)
    return f"scrypt${numbers}${_text(salt)}${_text(found)}"


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
