"""Names that people give to accounts and tokens.

No two accounts may look the same. A name follows the profile for usernames of RFC 8265
(precis-i18n), which refuses invisible characters and directions, and makes full width plain. Two
names look the same if they have the same skeleton (Unicode Technical Standard 39), whatever their
case; confusable-homoglyphs has Unicode's table of it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from precis_i18n import get_profile

from tellback.classroom.store.secrets import ID_PATTERN
from tellback.errors import FieldError

WITHOUT_ACCOUNTS = ("recording", "you")
"""Authors in the log that have no account. Words are deleted by the name of their author."""

LONGEST_NAME = 80
_LEFT_TO_RIGHT = "\u200e"
"""The table has this around characters that are written from the right."""


def validated_name(name: str) -> str:
    """The name in normal form; an error if it cannot be read."""
    name = unicodedata.normalize("NFC", name)
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise FieldError(
            "name",
            f"A name must have from 1 to {LONGEST_NAME} printable characters, without spaces "
            f"around them.",
        )
    return name


def account_name(name: str) -> str:
    """The name of an account as it is stored; an error if it is none."""
    username = get_profile("UsernameCasePreserved")
    try:
        parts = [username.enforce(part) for part in validated_name(name).split(" ")]
    except UnicodeEncodeError as error:
        raise FieldError(
            "name",
            "The name of an account must have letters, digits and the signs of ASCII alone, with "
            "single spaces between words.",
        ) from error
    name = validated_name(" ".join(parts))
    if re.search(ID_PATTERN, name.lower()):
        raise FieldError("name", "The name of an account must not look like the id of one.")
    if name in WITHOUT_ACCOUNTS:
        raise FieldError("name", f"{name} is the author of what was said without accounts.")
    if set(name) & set("/\\") or name in (".", ".."):
        raise FieldError(
            "name",
            "The name of an account must have no / and no \\, and must not be . or ..: it is in "
            "addresses.",
        )
    return name


def looks(name: str) -> frozenset[tuple[str, str]]:
    """The looks of a name: names that share one look the same.

    Lower case comes first once, so that IAN is ian, and last once, so that AdaI is Adal.
    """
    lower = name.casefold()
    return frozenset({("lower", _skeleton(lower)), ("drawn", _skeleton(name).casefold())})


def _skeleton(text: str) -> str:
    """The skeleton of a text (UTS 39, section 4), as one of the texts that look like it."""
    apart = unicodedata.normalize("NFD", text)
    drawn = "".join(_prototypes().get(one, one) for one in apart)
    # The table has zero with the capital O alone; people take it for the small one too.
    return unicodedata.normalize("NFD", drawn.replace("0", "o"))


@cache
def _prototypes() -> dict[str, str]:
    """What stands for each character: the same for all that look alike."""
    from confusable_homoglyphs.confusables import confusables_data  # takes a while to load

    found: dict[str, str] = {}
    for center, others in confusables_data.items():
        alike = {one.strip(_LEFT_TO_RIGHT) for one in (center, *(other["c"] for other in others))}
        for one in alike:
            found[one] = min(alike | {found.get(one, one)}, key=_rank)
    return found


def _rank(text: str) -> tuple[int, str]:
    # Some look like several characters, as m does like rn: then these stand for all.
    return -len(text), text
