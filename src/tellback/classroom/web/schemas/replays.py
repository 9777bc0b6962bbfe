"""Replays."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from tellback.classroom.web.schemas.common import Body
from tellback.theory.shares import Share


class NewReplay(Body):
    """Another agent, to be taught the descriptions of this lesson."""

    agent: dict[str, Any] | None = Field(
        None,
        description="Its kind and settings. Without a model, it has the lesson's. Null for the "
        "lesson's own agent.",
        examples=[{"kind": "loril", "k": 0.3}],
    )


class EstimateAnswer(BaseModel):
    """An off-policy estimate of an agent's mean reward."""

    mean: float
    low: float
    high: float
    level: float
    n: int = Field(description="Rounds that were used.")
    effective_n: float = Field(description="The effective sample size, in rounds.")
    method: str
    note: str


class SuccessAnswer(BaseModel):
    """Held-out requests met."""

    right: int
    requests: int


class ReplayAnswer(BaseModel):
    """Another agent after the same lesson."""

    agent: dict[str, Any] = Field(description="The agent with all its settings.")
    descriptions: int = Field(description="Descriptions that it was taught.")
    same_choice: Share | None = Field(
        description="Share of rounds in which it prefers the response that was chosen."
    )
    success: SuccessAnswer | None = Field(description="Its own; null if nobody can tell.")
    success_now: SuccessAnswer | None = Field(description="The same of the lesson's agent.")
    estimate: EstimateAnswer | None = Field(
        description="Of the agent taught by the first half, on the second half; null if unknown."
    )
    doubly_robust: EstimateAnswer | None = Field(description="The doubly robust estimate.")
    estimate_says: str = Field(description="What the estimate rests on, or why there is none.")
