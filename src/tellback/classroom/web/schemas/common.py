"""Parts that several requests share."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Annotated

from fastapi import Path as InPath
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

LONGEST_SENTENCE = 2_000
LONGEST_CONTEXT = 20_000
HIGHEST_INSTRUCTION = 2**31

INVISIBLE = ("Z", "Cc", "Cf", "M")
"""Categories of Unicode: spaces, controls, formats, and marks, which need another character."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def printable(text: str) -> str:
    """The text, unless it has control characters or lone surrogates."""
    if _UNPRINTABLE.search(text):
        raise ValueError("must not hold control characters or halves of characters")
    return text


def not_blank(text: str) -> str:
    """The text, unless no character of it is visible or it is not printable."""
    if all(unicodedata.category(one).startswith(INVISIBLE) for one in text):
        raise ValueError("must say something")
    return printable(text)


Text = Annotated[str, Field(max_length=LONGEST_CONTEXT), AfterValidator(printable)]


def _instruction(given: int | str) -> int | str:
    if isinstance(given, int):
        if not 0 <= given <= HIGHEST_INSTRUCTION:
            raise ValueError(f"must be from 0 to {HIGHEST_INSTRUCTION}")
        return given
    if len(given) > LONGEST_SENTENCE:
        raise ValueError(f"must have at most {LONGEST_SENTENCE} characters")
    return not_blank(given)


InstructionField = Annotated[
    int | str,
    AfterValidator(_instruction),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": HIGHEST_INSTRUCTION},
                {"type": "string", "minLength": 1, "maxLength": LONGEST_SENTENCE},
            ]
        }
    ),
]
"""A sentence, or a number of the table of instructions."""

LessonId = Annotated[
    str, InPath(pattern="^[a-z0-9-]{1,40}$", description="The lesson's id.", examples=["pictures"])
]
RoundNumber = Annotated[int, InPath(ge=1, le=2**53, description="The round's number.")]


class Body(BaseModel):
    """The base of request bodies: unknown fields are refused, and no type is converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


def finite(value: float | None) -> float | None:
    """A number as JSON can hold it: null instead of NaN and the infinities."""
    return None if value is None or not math.isfinite(value) else float(value)
