"""What requests and answers hold, field by field."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import Path as InPath
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

MOST_CANDIDATES = 100_000
LONGEST_SENTENCE = 2_000
LONGEST_CONTEXT = 20_000
HIGHEST_INSTRUCTION = 2**31

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def _printable(text: str) -> str:
    if _UNPRINTABLE.search(text):
        raise ValueError("must not hold control characters or halves of characters")
    return text


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("must say something")
    return _printable(text)


Text = Annotated[str, Field(max_length=LONGEST_CONTEXT), AfterValidator(_printable)]


def _instruction(given: int | str) -> int | str:
    if isinstance(given, int):
        if not 0 <= given <= HIGHEST_INSTRUCTION:
            raise ValueError(f"must be from 0 to {HIGHEST_INSTRUCTION}")
        return given
    if len(given) > LONGEST_SENTENCE:
        raise ValueError(f"must have at most {LONGEST_SENTENCE} characters")
    return _said(given)


Instruction = Annotated[
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
    """The base of what requests hold: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewLesson(Body):
    """A lesson to be made."""

    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_said)]
    candidates: Literal["features", "texts", "images"] = Field(
        "features", description="What responses are given as."
    )
    dim: int | None = Field(None, ge=1, le=4096, description="Features of a response.")
    instructions: int | None = Field(
        None, ge=1, le=4096, description="How many instructions; null for sentences."
    )
    agent: dict[str, Any] | None = Field(
        None, description="Its kind and settings.", examples=[{"kind": "loril", "k": 0.3}]
    )
    encoder: dict[str, Any] | None = Field(None, description="Of texts or pictures.")
    match: dict[str, Any] | None = Field(
        None, description="When a description is what was asked for."
    )
    second_share: float = Field(
        0.0, ge=0, le=1, description="Of responses that a second teacher describes too."
    )
    seed: int = Field(0, ge=0, le=2**63 - 1)


class LessonAnswer(BaseModel):
    """A lesson."""

    id: str
    name: str
    definition: dict[str, Any]
    created: float
    events: int = Field(description="The number of its latest event.")
    rounds: int


class Lessons(BaseModel):
    """Lessons, the newest first."""

    lessons: list[LessonAnswer]


class Candidates(Body):
    """The responses that are possible: features, or texts or pictures to be encoded."""

    features: list[list[float]] | None = Field(None, max_length=MOST_CANDIDATES)
    texts: list[Text] | None = Field(None, max_length=MOST_CANDIDATES)
    images: list[str] | None = Field(
        None, max_length=200, description="PNG, JPEG or WebP files in base 64."
    )


class NewRound(Candidates):
    """A task for the agent."""

    instruction: Instruction
    context: (
        Annotated[str, Field(max_length=LONGEST_CONTEXT), AfterValidator(_printable)] | None
    ) = Field(None, description="What teachers are told about the situation.")


class RoundAnswer(BaseModel):
    """What the agent does."""

    round: int
    response: int = Field(description="Which of the candidates, from 0.")
    estimate: float | None
    bonus: float | None
    propensity: float | None
    model_version: int = Field(description="The latest event that the agent knew of.")


class RoundState(BaseModel):
    """A round and where it stands."""

    round: int
    status: str
    instruction: int | str
    response: int
    estimate: float | None
    bonus: float | None
    propensity: float | None
    model_version: int
    description: int | str | None
    matched: bool | None = Field(description="Null where it must not count.")
    saw_request: bool | None


class NewDescription(Body):
    """What the response was."""

    description: Instruction
    saw_request: bool = Field(
        False, description="Whether its author knew what was asked for: then it counts as no match."
    )


class Change(BaseModel):
    """A request whose answer has changed."""

    request: int | str
    before: int
    after: int
    was_right: bool | None
    is_right: bool | None


class EffectAnswer(BaseModel):
    """What a description has changed."""

    learned: int = Field(description="Descriptions so far.")
    changes: list[Change]
    right: int | None = Field(description="Of the held-out requests; null if nobody knows.")
    requests: int


class Described(BaseModel):
    """What became of a description."""

    round: int
    event: int
    new: bool = Field(description="False if the very same was given before.")
    asked: int | str = Field(description="What the agent had been asked for.")
    matched: bool
    saw_request: bool
    second: bool = Field(description="Whether it is a second, independent description.")
    agrees: bool | None
    effect: EffectAnswer | None


class Withdrawn(BaseModel):
    """What became of a description that was taken back."""

    round: int
    withdrawn: bool = Field(description="False if there was nothing to take back.")


class Ending(Body):
    """Why a round is not described."""

    outcome: Literal["skipped", "cannot_tell", "flagged"]
    note: Annotated[str, Field(max_length=LONGEST_SENTENCE), AfterValidator(_printable)] = ""


class Ended(BaseModel):
    """A round that was closed."""

    round: int
    status: str


class ClaimAnswer(BaseModel):
    """A response to describe. What was asked for is not told."""

    round: int
    response: int
    candidates: int
    context: str | None
    texts: list[str] | None
    images: list[str] | None = Field(description="Where the pictures are.")
    until: float = Field(description="When it may be given to somebody else, in seconds of Unix.")


class Shown(BaseModel):
    """What a round shows. Neither what was asked for is told, nor what the agent did."""

    round: int
    candidates: int
    context: str | None
    texts: list[str] | None
    images: list[str] | None = Field(description="Where the pictures are.")
    features: list[list[float]] | None = Field(
        description="Where there is nothing else to show: the first numbers of the first few."
    )


class Asking(Candidates):
    """A request to think about."""

    instruction: Instruction
    round: int | None = Field(None, ge=1, le=2**53, description="Take the responses of this round.")


class Option(BaseModel):
    """One of the responses, as the agent sees it."""

    response: int
    estimate: float
    bonus: float | None


class Thought(BaseModel):
    """What the agent would do."""

    response: int
    estimate: float
    bonus: float | None
    second: Option | None
    sure: bool
    says: str = Field(description="How sure it is and why, in words.")
    learned: int
    model_version: int
    round: int | None


class ShareAnswer(BaseModel):
    """A share of n trials, with an interval of 95%.

    In a lesson's progress all intervals that were ever shown hold together.
    """

    share: float
    low: float
    high: float
    n: int


class PointAnswer(BaseModel):
    """Held-out requests that were answered rightly, after so many descriptions."""

    described: int
    right: int
    requests: int


class CurveAnswer(BaseModel):
    """How many descriptions there are, and the success curve."""

    described: int
    curve: list[PointAnswer] = Field(description="Empty where nobody knows what is right.")
    match_says: str = Field(description="How matches are judged, and how often wrongly.")


class TeacherAnswer(BaseModel):
    """What one teacher has done."""

    name: str
    described: int
    matched: int
    counted: int = Field(description="Descriptions that count in the share of matches.")
    second: int = Field(description="Second descriptions given.")
    agreed: int = Field(description="Of them, those that agree with the first.")


class UnsureAnswer(BaseModel):
    """A request of which the agent is unsure."""

    request: int | str
    says: str


class ProgressAnswer(BaseModel):
    """How a lesson goes."""

    lesson: str
    name: str
    events: int
    rounds: int
    described: int
    statuses: dict[str, int]
    curve: list[PointAnswer] = Field(description="Empty where nobody knows what is right.")
    matches: ShareAnswer | None = Field(description="Descriptions that were what was asked for.")
    match_says: str = Field(description="How matches are judged, and how often wrongly.")
    certified_regret: float | None = Field(
        description="The most regret so far, if the agent's bounds hold; null if it has none."
    )
    light: str = Field(description="green, amber, red, grey or dark.")
    light_says: str
    unsure: list[UnsureAnswer]
    teachers: list[TeacherAnswer]
    agreement: ShareAnswer | None = Field(description="Of second descriptions with the first.")
    checks: ShareAnswer | None = Field(description="Blind checks that picked what was described.")


class CheckAnswer(BaseModel):
    """A description, and responses one of which it is of."""

    round: int
    description: int | str
    candidates: int
    context: str | None
    texts: list[str] | None
    images: list[str] | None


class Pick(Body):
    """Which response a description fits."""

    response: int = Field(ge=0, le=MOST_CANDIDATES)


class Checked(BaseModel):
    """Whether it was the one."""

    round: int
    right: bool
    response: int = Field(description="The one that was described.")
