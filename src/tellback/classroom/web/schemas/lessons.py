"""Lessons."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from tellback.classroom.web.schemas.common import Body, not_blank


class NewLesson(Body):
    """A lesson to create."""

    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank)]
    candidates: Literal["features", "texts", "images"] = Field(
        "features", description="The form in which responses are given."
    )
    dim: int | None = Field(None, ge=1, le=4096, description="Features of a response.")
    instructions: int | None = Field(
        None, ge=1, le=4096, description="How many instructions; null for sentences."
    )
    agent: dict[str, Any] | None = Field(
        None, description="Its kind and settings.", examples=[{"kind": "loril", "k": 0.3}]
    )
    encoder: dict[str, Any] | None = Field(None, description="The encoder of texts or pictures.")
    match: dict[str, Any] | None = Field(
        None, description="When a description counts as a match of the request."
    )
    second_share: float = Field(
        0.0, ge=0, le=1, description="Share of responses that a second teacher describes too."
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
