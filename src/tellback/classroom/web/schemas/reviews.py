"""The inbox of reviewers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from tellback.classroom.web.schemas.common import Body, InstructionField
from tellback.classroom.web.schemas.rounds import RoundContent


class ReasonAnswer(BaseModel):
    """Why a round should be reviewed."""

    kind: Literal["doubtful", "disagreeing", "flagged"]
    says: str


class InboxRound(RoundContent):
    """A round that should be reviewed, without its request."""

    response: int
    teacher: str
    description: int | str | None = Field(description="Null if the round was flagged instead.")
    reasons: list[ReasonAnswer]


class Inbox(BaseModel):
    """Rounds to review, those with most reasons first."""

    rounds: list[InboxRound]
    more: int = Field(description="How many more there are.")


class NewReview(Body):
    """What a reviewer decides."""

    outcome: Literal["accepted", "corrected", "sent"] = Field(
        description="Accept it as it is; correct it; or send it to another teacher."
    )
    description: InstructionField | None = Field(
        None, description="The correction; with the outcome `corrected` only."
    )


class Reviewed(BaseModel):
    """A round that was reviewed."""

    round: int
    status: str
