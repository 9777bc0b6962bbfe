"""Progress of a lesson."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tellback.classroom.learning.heard import MOST_UNSAID
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.store.progress import CurvePoint
from tellback.theory.shares import Share


class WordsAnswer(BaseModel):
    """Held-out requests in words that were said."""

    right: int = Field(description="So many of them are met.")
    requests: int
    unsaid: list[str] = Field(
        description=f"Names in the other requests, which nobody has said: {MOST_UNSAID} at most."
    )
    more_unsaid: int = Field(description="How many more such names there are.")


class HeldOutAnswer(BaseModel):
    """Descriptions that are the requests of the exam, and are not taught."""

    descriptions: int
    needed: int = Field(description="The curve begins with so many.")
    share: float = Field(description="The share of rounds that are held out, at random.")


class CurveAnswer(BaseModel):
    """The number of descriptions, and the success curve."""

    described: int = Field(
        description="Descriptions that teachers have given: second ones, and answers to items that "
        "catch carelessness, count, too."
    )
    taught: int = Field(
        description="Of these, those that the agent has learned: the curve counts them. Others are "
        "held out, left out, or refused by the model."
    )
    left_out: int = Field(
        description="Of these, those that are left out because they are doubtful."
    )
    curve: list[CurvePoint] = Field(description="Empty where nobody can tell what is right.")
    words: WordsAnswer | None = Field(description="Null if it is not known which words matter.")
    held_out: HeldOutAnswer | None = Field(description="Of own material; else null.")
    match_says: str = Field(
        description="How it is judged whether a response did what was asked, and how often wrongly."
    )


class TeacherAnswer(BaseModel):
    """The work of one teacher."""

    name: str
    described: int
    matched: int
    counted: int = Field(description="Descriptions that count in the share of matches.")
    second: int = Field(description="Second descriptions given.")
    agreed: int = Field(description="Second descriptions that agree with the first.")
    reliability: Share | None = Field(
        description="Share of right descriptions, from second descriptions, checks, known answers "
        "and surprise; null if nothing is known. Its interval holds at one time."
    )


class UnsureAnswer(BaseModel):
    """A request of which the agent is unsure."""

    request: int | str
    says: str


class ProgressAnswer(CurveAnswer):
    """Progress of a lesson. All intervals of 95% that were ever shown hold together."""

    lesson: str
    name: str
    described: int = Field(
        description="Rounds that are described: second descriptions and known answers do not count."
    )
    events: int
    rounds: int
    statuses: dict[str, int]
    judged_by: JudgedBy = Field(description="What the share of matches rests on.")
    matches: Share | None = Field(
        description="Share of described rounds in which the response did what was asked. Null "
        "where verdicts rest on people who have judged too few."
    )
    certified_regret: float | None = Field(
        description="The most regret so far, if the agent's bounds hold; null if it has none."
    )
    light: str = Field(description="green, amber, red, grey or dark.")
    light_says: str
    unsure: list[UnsureAnswer]
    teachers: list[TeacherAnswer]
    agreement: Share | None = Field(
        description="Share of second descriptions that agree with the first; null if not known."
    )
    alpha: float | None = Field(
        description="Krippendorff's alpha of first and second descriptions: 0 is chance, 1 is "
        "agreement. Null if there are too few."
    )
    checks: Share | None = Field(description="Share of blind checks with the right pick.")
