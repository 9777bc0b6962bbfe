"""Apprentice mode: the agent beside the policy that acts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from tellback.classroom.learning.apprentice import Gain, Rate, Switch
from tellback.theory.shares import Share


class ApprenticeQuery(BaseModel):
    """The parameters of the report; misspelt ones are refused, not ignored."""

    model_config = ConfigDict(extra="forbid")

    margin: float = Field(
        0.0,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="The share of requests that you accept to lose by switching.",
    )
    after: int = Field(
        0, ge=0, le=2**53, description="Count only rounds after this one. Choose it beforehand."
    )


class ApprenticeAnswer(BaseModel):
    """The agent beside the policy that acts. All bounds of 95% ever shown hold together."""

    rounds: int = Field(description="Rounds in which another policy acted.")
    judged: int = Field(description="Those of which it is known whether the request was met.")
    agreement: Share | None = Field(description="Share of rounds in which the agent advised that.")
    acting: Share | None = Field(description="Share of requests that the acting policy met.")
    agent: Rate | None = Field(
        description="Share that the agent would have met; mean is null if only bounds are known."
    )
    gain: Gain | None = Field(description="Bounds on the agent's share minus the acting policy's.")
    verdict: Switch
    says: str = Field(description="The verdict and what it rests on, in words.")
    match_says: str = Field(description="How it is judged whether a request was met.")
