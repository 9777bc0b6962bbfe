"""Names that people give to accounts and tokens."""

from __future__ import annotations

import unicodedata

from tellback.errors import FieldError

LONGEST_NAME = 80


def validated_name(name: str) -> str:
    """The name in normal form; an error if it cannot be read or told from others."""
    name = unicodedata.normalize("NFC", name)
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise FieldError(
            "name",
            f"A name must have from 1 to {LONGEST_NAME} printable characters, without spaces "
            f"around them.",
        )
    return name
