"""Claims, descriptions and blind checks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from tellback.classroom.learning.exam import Flip
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.store.rounds import RoundPart
from tellback.classroom.web.schemas.common import (
    LONGEST_SENTENCE,
    Body,
    InstructionField,
    printable,
)
from tellback.classroom.web.schemas.rounds import RoundContent
from tellback.classroom.web.schemas.suggestions import ShownSuggestion
from tellback.classroom.web.strict_json import MOST_CANDIDATES


class ClaimAnswer(RoundContent):
    """A response to describe. The request is not told."""

    response: int
    until: float = Field(description="When the claim ends, in seconds since 1970.")
    suggestion: ShownSuggestion | None = Field(description="What a program proposes to say.")
    practice: bool = Field(description="Whether this is practice: it teaches nothing.")


class NewDescription(Body):
    """What the response was."""

    description: InstructionField
    saw_request: bool = Field(
        False, description="Whether the teacher knew the request: then it counts as no match."
    )
    sure: bool = Field(
        False, description="Whether the teacher was asked if it is right, and this is the answer."
    )
    first: InstructionField | None = Field(
        None,
        description="If they corrected it before it was stored, what they had said. This one "
        "counts as a match or not, and the description teaches.",
    )
    took_suggestion: bool = Field(
        False, description="Whether the words began as those of the suggestion."
    )


class EffectAnswer(BaseModel):
    """The effect of a description on the agent."""

    learned: int = Field(description="Descriptions so far.")
    changes: list[Flip]
    gained: int | None = Field(description="Held-out requests met now, and not before.")
    lost: int | None = Field(description="Held-out requests met before, and not now.")
    right: int | None = Field(description="Held-out requests met; null if nobody can tell.")
    requests: int
    weighed: int = Field(
        description="With it all descriptions were weighed again: so many were left out or taken "
        "back in, and the effect is of that, too. 0 if nothing else changed."
    )


class PracticeAnswer(BaseModel):
    """What may be said of a response in practice."""

    right: bool | None = Field(description="Whether the description is right; null if not known.")
    answers: list[int | str]


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
    asks_judgement: bool = Field(description="Whether the teacher should judge: a random part.")
    saw_request: bool
    second: bool = Field(description="Whether it is a second, independent description.")
    agrees: bool | None = Field(description="With the first one: null if that is not known.")
    part: RoundPart | None = Field(
        description="Of own material: it is held out for the exam and teaches nothing, or nothing "
        "was asked because nobody had said anything yet. Else null."
    )
    questions: int = Field(
        description="How many earlier descriptions of the teacher are doubtful now."
    )
    practice: PracticeAnswer | None = Field(description="In practice; else null.")
    effect: EffectAnswer | None


class AskedQuestion(Body):
    """What the teacher is about to say of a response."""

    description: InstructionField


class QuestionAnswer(BaseModel):
    """A question about a doubtful description. It does not depend on the request."""

    round: int
    description: int | str
    right: float = Field(description="The probability that the description is right.")
    looks_like: int | str | None = Field(
        description="The description of another round that fits the response best, if one does."
    )
    says: str = Field(description="The question, in words.")


class LaterQuestion(QuestionAnswer, RoundContent):
    """A question about an earlier description, and the candidates of its round."""

    response: int


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

    response: int | None = Field(
        ge=0, le=MOST_CANDIDATES, description="Null if it fits none of them."
    )


class Checked(BaseModel):
    """Whether the pick was right."""

    round: int
    right: bool
    response: int = Field(description="The response that was described.")
