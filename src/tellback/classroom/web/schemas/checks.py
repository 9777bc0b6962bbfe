"""Blind checks."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tellback.classroom.web.schemas.common import Body
from tellback.classroom.web.schemas.rounds import MOST_CANDIDATES, RoundContent


class CheckAnswer(RoundContent):
    """A description and the candidates of its round."""

    description: int | str


class Pick(Body):
    """The response that a description fits."""

    response: int = Field(ge=0, le=MOST_CANDIDATES)


class Checked(BaseModel):
    """Whether the pick was right."""

    round: int
    right: bool
    response: int = Field(description="The response that was described.")
