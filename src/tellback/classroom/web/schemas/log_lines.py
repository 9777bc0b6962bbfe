"""The lines of an import: rounds played elsewhere, or the events of an export."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from tellback.classroom.learning.importing import Stated
from tellback.classroom.store.rounds import RoundPart
from tellback.classroom.web.schemas.common import Body, InstructionField, Text
from tellback.classroom.web.schemas.rounds import Candidates, Features, NewTask
from tellback.classroom.web.schemas.suggestions import NewSuggestion, UsedSuggestion

Propensity = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Number = Annotated[int, Field(ge=1, le=2**53)]
Real = Annotated[float, Field(ge=-1e100, le=1e100, allow_inf_nan=False)]
"""Sums and squares of such numbers are finite."""

Kind = TypeVar("Kind", bound=str)
EventData = TypeVar("EventData", bound=BaseModel)


class PlayedRound(NewTask):
    """A line: a round that was played elsewhere."""

    response: int = Field(ge=0, description="Index of the chosen candidate, from 0.")
    propensity: Propensity | None = Field(
        None, description="Probability of the choice; null if unknown."
    )
    description: InstructionField | None = Field(None, description="Null if nobody described it.")
    saw_request: bool = Field(False, description="Whether the teacher knew the request.")


class _Loose(BaseModel):
    """Of an export, fields that are not needed are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True)


class Heading(_Loose):
    """The first line of an export."""

    format: Literal["tellback lesson"]
    version: Literal[1]
    events: int = Field(ge=0)


class DrawnData(_Loose):
    """A response of a world that has too many to list: such as a path, in a task of the world."""

    task: Number
    response: Text


class ChoiceData(_Loose):
    """A response, and what the agent stated of it."""

    response: int = Field(ge=0)
    propensity: Propensity | None = None
    estimate: Real | None = None
    bonus: Real | None = None
    width: Annotated[Real, Field(ge=0)] | None = None
    highest: Real | None = None


class KnownData(_Loose):
    """What may be said of a response."""

    answers: list[InstructionField] = Field(min_length=1)
    only: bool = False
    practice: bool = False
    matched: bool | None = None


class AskedData(ChoiceData):
    """A request, and the choice of the agent, or of another policy that the agent advised."""

    instruction: InstructionField
    drawn: DrawnData | None = None
    advice: ChoiceData | None = None
    part: Annotated[RoundPart, Field(strict=False)] | None = None
    known: KnownData | None = None

    def stated(self) -> Stated:
        """The numbers that the agent stated with its choice."""
        given = {name: getattr(self, name) for name in Stated._fields}
        return Stated(**{name: value for name, value in given.items() if value is not None})


class ShownData(_Loose, Candidates):
    """The candidates of a round."""

    model_config = ConfigDict(extra="ignore", strict=True)
    features: Features
    context: Text | None = None


class DescribedData(_Loose):
    """A description."""

    description: InstructionField
    saw_request: bool
    suggested: UsedSuggestion | None = None
    sure: bool = False  # the teacher was asked, and this is the answer
    first: InstructionField | None = None  # what they had said before they were asked


class AnsweredData(_Loose):
    """What was said of a response whose answers are known; or how it was closed, or taken back."""

    description: InstructionField | None = None
    outcome: Literal["skipped", "cannot_tell", "flagged", "withdrawn"] | None = None


class SuggestedData(NewSuggestion):
    """A suggestion."""


class RolledBackData(_Loose):
    """The target of a rollback."""

    to: int = Field(ge=0)


class RedactedData(_Loose):
    """The number of events that became tombstones."""

    events: int = Field(0, ge=0)


class EndData(Body):
    """A note."""

    note: Text | None = None
    second: bool | None = None  # a second teacher was to describe the round, and did not


class WithdrawnData(Body):
    """The status of the round before."""

    was: Literal["described", "skipped", "cannot_tell", "flagged", "rolled_back"] | None = None


class CheckedData(_Loose):
    """The pick of a check. Whether it was right is computed again."""

    picked: int | None = Field(ge=0, le=2**53)  # None: none of them


class JudgedData(Body):
    """Whether the response did what was asked; without, nobody could tell."""

    met: bool | None = None


class ReviewedData(Body):
    """What a reviewer decided."""

    outcome: Literal["accepted", "corrected", "sent"]


class Tombstone(Body):
    """The rest of an event that was redacted."""

    redacted: Literal[True]


class _EventLine(_Loose):
    seq: Number


class _RoundLine(_EventLine, Generic[Kind, EventData]):
    """A line: an event of a round that has been asked, or the rest of it."""

    kind: Kind
    round: Number
    data: Tombstone | EventData


class AskedLine(_EventLine):
    """A line: a round was asked."""

    kind: Literal["asked"]
    round: Number
    data: AskedData
    shown: ShownData
    wants_second: bool = False


class RolledBackLine(_EventLine):
    """A line: the lesson was rolled back."""

    kind: Literal["rolled_back"]
    data: RolledBackData


class RedactedLine(_EventLine):
    """A line: a teacher's words were deleted."""

    kind: Literal["redacted"]
    data: RedactedData


EventLine = Annotated[
    AskedLine
    | _RoundLine[Literal["described", "second"], DescribedData]
    | _RoundLine[Literal["answered"], AnsweredData]
    | _RoundLine[Literal["suggested"], SuggestedData]
    | _RoundLine[Literal["skipped", "cannot_tell", "flagged"], EndData]
    | _RoundLine[Literal["withdrawn"], WithdrawnData]
    | _RoundLine[Literal["checked"], CheckedData]
    | _RoundLine[Literal["judged"], JudgedData]
    | _RoundLine[Literal["reviewed"], ReviewedData]
    | RolledBackLine
    | RedactedLine,
    Field(discriminator="kind"),
]
