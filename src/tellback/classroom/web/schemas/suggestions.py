"""Suggestions of descriptions."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from tellback.classroom.web.schemas.common import Body, InstructionField, not_blank

Author = Annotated[
    str,
    Field(min_length=1, max_length=200, description="What proposes it, such as a model's name."),
    AfterValidator(not_blank),
]


class NewSuggestion(Body):
    """A description that a program proposes."""

    description: InstructionField
    by: Author


class SuggestionAnswer(BaseModel):
    """A suggestion that was received."""

    round: int
    event: int
    new: bool = Field(description="False if the same suggestion was there already.")


class ShownSuggestion(BaseModel):
    """A suggestion, as teachers see it."""

    description: int | str
    by: str


class UsedSuggestion(BaseModel):
    """The suggestion before a description."""

    by: str
    edited: bool = Field(description="Whether the teacher took it and changed it.")
    ignored: bool = Field(False, description="Whether the teacher said something else instead.")
