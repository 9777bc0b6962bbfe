"""Previews: what the agent would do."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tellback.classroom.web.schemas.common import InstructionField
from tellback.classroom.web.schemas.rounds import Candidates


class NewPreview(Candidates):
    """A request to preview."""

    instruction: InstructionField
    round: int | None = Field(
        None, ge=1, le=2**53, description="Take the candidates of this round."
    )


class Option(BaseModel):
    """A response, as the agent sees it."""

    response: int
    estimate: float
    bonus: float | None


class PreviewAnswer(Option):
    """The response that the agent would choose."""

    second: Option | None
    sure: bool
    says: str = Field(description="How sure the agent is and why, in words.")
    learned: int
    model_version: int
    round: int | None
