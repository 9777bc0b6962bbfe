"""What requests about the log of a lesson hold, field by field: back, in, out, and to others."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field

from tellback.classroom.web.bodies import Body, ShareAnswer

AccountId = Annotated[
    str, InPath(pattern="^[a-z0-9-]{1,40}$", description="The teacher's account.")
]
HookId = Annotated[str, InPath(pattern="^[0-9a-f]{20}$", description="The hook's id.")]


class BackTo(Body):
    """An event to go back to."""

    to: int = Field(ge=0, le=2**53, description="The event's number; 0 is before all.")


class WentBack(BaseModel):
    """What stands after going back."""

    event: int = Field(description="The number of the event that says so.")
    descriptions: int = Field(description="How many descriptions stand.")


class RedactedAnswer(BaseModel):
    """What became of somebody's words."""

    events: int = Field(description="Events of which only a tombstone is left.")
    lessons: int = Field(description="Lessons in which there were any.")
    scrubbed: bool = Field(
        description="Whether no file has them any more; false if somebody was reading: ask again."
    )


class Wanted(BaseModel):
    """What of a lesson is wanted; what is misspelt is refused, not ignored."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["jsonl", "parquet", "log"] = "jsonl"
    images: bool = Field(False, description="Whether pictures come along.")


class ImportedAnswer(BaseModel):
    """What was taken in."""

    rounds: int
    descriptions: int = Field(description="Descriptions that came, standing or not.")
    first_round: int | None = Field(description="The number of the first new round.")
    events: int = Field(description="The number of the lesson's latest event now.")


class NewReplay(Body):
    """Another agent, to be taught what this lesson's was."""

    agent: dict[str, Any] = Field(
        description="Its kind and settings.", examples=[{"kind": "loril", "k": 0.3}]
    )


class EstimateAnswer(BaseModel):
    """The mean reward that an agent would have had, from what another did."""

    mean: float
    low: float
    high: float
    level: float
    n: int = Field(description="Rounds that were used.")
    effective_n: float = Field(description="To how many rounds of its own they amount, about.")
    method: str
    note: str


class SuccessAnswer(BaseModel):
    """Held-out requests that were answered rightly."""

    right: int
    requests: int


class ReplayAnswer(BaseModel):
    """What another agent makes of the same lesson."""

    agent: dict[str, Any] = Field(description="The agent with everything named.")
    descriptions: int = Field(description="How many it was taught.")
    same_choice: ShareAnswer | None = Field(
        description="Rounds in which, knowing all this, it thinks best what was done."
    )
    success: SuccessAnswer | None = Field(description="Its own; null if nobody knows.")
    success_now: SuccessAnswer | None = Field(description="That of the lesson's agent.")
    estimate: EstimateAnswer | None = Field(
        description="Of the agent taught by the first half, on the second half; null if unknown."
    )
    doubly_robust: EstimateAnswer | None = Field(description="Another estimate of the same.")
    estimate_says: str = Field(description="What it rests on, or why there is none.")


class NewHook(Body):
    """Where word of new descriptions shall be sent."""

    url: str = Field(min_length=1, max_length=2000, examples=["https://example.org/told"])


class HookAnswer(BaseModel):
    """A hook, and how its deliveries go."""

    id: str
    url: str
    created: float
    waiting: int
    given_up: int
    latest_delivered: int | None = Field(description="The event.")
    trouble: str | None = Field(description="Why the latest attempt failed that did.")


class NewHookAnswer(BaseModel):
    """A hook that was made."""

    id: str
    url: str
    secret: str = Field(description="Signs each delivery. It is shown this once.")


class Hooks(BaseModel):
    """The hooks of a lesson."""

    hooks: list[HookAnswer]
