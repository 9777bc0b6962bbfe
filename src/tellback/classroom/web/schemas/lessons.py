"""Lessons."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from tellback.classroom.learning.definition import LONGEST_GUIDE, MOST_CAUGHT
from tellback.classroom.web.schemas.common import Body, not_blank, printable


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
    answers: list[str] | None = Field(
        None,
        max_length=9,
        description="The only descriptions that are taken: teachers get a button for each.",
        examples=[["yes", "no"]],
    )
    second_share: float = Field(
        0.0, ge=0, le=1, description="Share of responses that a second teacher describes too."
    )
    doubt: Literal["off", "ask", "weigh"] | None = Field(
        None,
        description="Doubtful descriptions: do nothing, ask their teacher, or also leave them out "
        "of what the agent learns. By default it depends on the model.",
    )
    guide: Annotated[str, AfterValidator(printable)] = Field(
        "", max_length=LONGEST_GUIDE, description="How to describe: teachers can open it."
    )
    catch: float = Field(
        0.0,
        ge=0,
        le=MOST_CAUGHT,
        description="Share of a teacher's responses whose answers are known, to catch "
        "carelessness. They look like any other.",
    )
    seed: int | None = Field(
        None,
        ge=0,
        le=2**63 - 1,
        description="Random by default, so that no teacher can compute what is drawn; 0 in a "
        "classroom without accounts.",
    )


class LessonChange(Body):
    """Changes of a lesson; omitted fields stay as they are."""

    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(not_blank)] | None = (
        None
    )
    archived: bool | None = Field(None, description="Whether it is in the archive.")
    guide: Annotated[str, AfterValidator(printable)] | None = Field(
        None, max_length=LONGEST_GUIDE, description="How to describe: teachers can open it."
    )
    catch: float | None = Field(
        None, ge=0, le=MOST_CAUGHT, description="Share of responses whose answers are known."
    )


class LessonAnswer(BaseModel):
    """A lesson."""

    id: str
    name: str
    definition: dict[str, Any]
    created: float
    events: int = Field(description="The number of its latest event.")
    rounds: int
    archived: bool = Field(description="Whether it is in the archive: not listed among the others.")


class Lessons(BaseModel):
    """Lessons, the newest first."""

    lessons: list[LessonAnswer]
