"""Claims, descriptions and blind checks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from tellback.classroom.learning.exam import Flip
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.web.schemas.common import (
    LONGEST_SENTENCE,
    Body,
    InstructionField,
    printable,
)
from tellback.classroom.web.schemas.rounds import MOST_CANDIDATES, RoundContent


class ClaimAnswer(RoundContent):
    """A response to describe. The request is not told."""

    response: int
    until: float = Field(description="When the claim ends, in seconds since 1970.")


class NewDescription(Body):
    """What the response was."""

    description: InstructionField
    saw_request: bool = Field(
        False, description="Whether the teacher knew the request: then it counts as no match."
    )


class EffectAnswer(BaseModel):
    """The effect of a description on the agent."""

    learned: int = Field(description="Descriptions so far.")
    changes: list[Flip]
    gained: int | None = Field(description="Held-out requests met now, and not before.")
    lost: int | None = Field(description="Held-out requests met before, and not now.")
    right: int | None = Field(description="Held-out requests met; null if nobody can tell.")
    requests: int


class Described(BaseModel):
    """A description that was received."""

    round: int
    event: int
    new: bool = Field(description="False if the same description was there already.")
    asked: int | str = Field(description="The agent's request.")
    matched: bool | None = Field(
        description="Whether the response did what was asked: null if that is not known, or must "
        "not count."
    )
    judged_by: JudgedBy = Field(description="What this rests on.")
    sounds_alike: bool | None = Field(
        description="Where it rests on people, whether the agent ranks responses alike for the "
        "request and the description. It is no verdict. Null if its effect was not asked for."
    )
    asks_judgement: bool = Field(description="Whether the teacher should judge: a random part.")
    saw_request: bool
    second: bool = Field(description="Whether it is a second, independent description.")
    agrees: bool | None = Field(description="With the first one: null if that is not known.")
    effect: EffectAnswer | None


class Withdrawn(BaseModel):
    """A description that was withdrawn."""

    round: int
    withdrawn: bool = Field(description="False if there was nothing to withdraw.")


class Ending(Body):
    """Why a round is not described."""

    outcome: Literal["skipped", "cannot_tell", "flagged"]
    note: Annotated[str, Field(max_length=LONGEST_SENTENCE), AfterValidator(printable)] = ""


class Ended(BaseModel):
    """A round that was closed without a description."""

    round: int
    status: str


class CheckAnswer(RoundContent):
    """A description and the candidates of its round."""

    description: int | str


class ToJudge(RoundContent):
    """A round to judge: its request, and the response."""

    instruction: int | str
    response: int


class NewJudgement(Body):
    """Whether the response did what was asked."""

    met: bool | None = Field(description="Null if you cannot tell.")


class Judgement(NewJudgement):
    """A judgement that was received."""

    round: int


class Pick(Body):
    """The response that a description fits."""

    response: int = Field(ge=0, le=MOST_CANDIDATES)


class Checked(BaseModel):
    """Whether the pick was right."""

    round: int
    right: bool
    response: int = Field(description="The response that was described.")
