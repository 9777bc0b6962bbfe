"""Rounds: the task, the agent's choice or its preview, and the candidates as people see them."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.sureness import Answer
from tellback.classroom.store.rounds import Known, RoundStatus
from tellback.classroom.store.tasks import TaskRow
from tellback.classroom.web.schemas.common import Body, InstructionField, Text
from tellback.classroom.web.schemas.suggestions import UsedSuggestion
from tellback.classroom.web.strict_json import MOST_CANDIDATES

LEAST_PROPENSITY = 1e-6
"""Of what was done: its round counts 1 / propensity times, and would drown all others."""


def _numbers(given: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Features; those of a large body are an array, and checked (``strict_json.large_json``)."""
    return given if isinstance(given, np.ndarray) else handler(given)


def _stated(given: Any) -> Any:
    """Features in the digest of a request."""
    return hashlib.sha256(given.tobytes()).hexdigest() if isinstance(given, np.ndarray) else given


Features = Annotated[
    list[list[float]],
    WrapValidator(_numbers),
    PlainSerializer(_stated, return_type=Any),
]


class Candidates(Body):
    """The possible responses: features, or texts or pictures to be encoded."""

    features: Features | None = Field(None, max_length=MOST_CANDIDATES)
    texts: list[Text] | None = Field(None, max_length=MOST_CANDIDATES)
    images: list[str] | None = Field(
        None, max_length=200, description="PNG, JPEG or WebP files in base 64."
    )


class NewTask(Candidates):
    """A task."""

    instruction: InstructionField
    context: Text | None = Field(None, description="The situation, as teachers are told it.")


class Acted(Body):
    """What another policy did, decided without the agent's advice."""

    response: int = Field(ge=0, le=MOST_CANDIDATES, description="Index of a candidate, from 0.")
    propensity: float | None = Field(
        None,
        ge=LEAST_PROPENSITY,
        le=1,
        description="The probability with which it was chosen; null if unknown.",
    )


class NewKnown(Body):
    """What may be said of a response. Teachers get it, and it teaches the agent nothing."""

    answers: list[InstructionField] = Field(
        min_length=1, max_length=20, description="A description with all words of one is right."
    )
    only: bool = Field(
        False,
        description="Whether everything else is wrong. Otherwise other words count only if the "
        "agent is sure which response was meant.",
    )
    practice: bool = Field(
        False,
        description="Whether it comes before a teacher's next other response, and the teacher is "
        "told the answers. Otherwise it looks like any other, and catches carelessness.",
    )

    def checked(self, definition: Definition) -> Known:
        """As it is stored; refused unless each answer can be given in the lesson."""
        for answer in self.answers:
            definition.demand_description(answer, "known.answers")
        return Known(tuple(self.answers), self.only, self.practice)


class KnownAnswer(NewKnown):
    """A round whose answers are known."""

    round: int


class KnownAnswers(BaseModel):
    """Rounds whose answers are known."""

    rounds: list[KnownAnswer]


class NewRound(NewTask):
    """A task for the agent."""

    known: NewKnown | None = Field(
        None, description="With `acted`, which says the response: what may be said of it is known."
    )
    acted: Acted | None = Field(
        None, description="Apprentice mode: what was done instead of what the agent would do."
    )


class Advice(BaseModel):
    """A response that the agent would choose."""

    response: int = Field(description="Index of the candidate, from 0.")
    estimate: float | None
    bonus: float | None
    propensity: float | None


class RoundAnswer(BaseModel):
    """A new round: the agent's choice, or what another policy did."""

    round: int
    response: int = Field(description="Index of the chosen candidate, from 0.")
    estimate: float | None
    bonus: float | None
    propensity: float | None
    model_version: int = Field(description="The latest event that the agent knew of.")
    advice: Advice | None = Field(description="The agent's choice, where another policy acted.")


class RoundState(RoundAnswer):
    """A round: its request, the agent's choice, and its description."""

    status: str
    instruction: int | str
    description: int | str | None
    matched: bool | None = Field(description="Null where it is not known, or must not count.")
    saw_request: bool | None
    suggested: UsedSuggestion | None = Field(description="What suggested the description, if any.")


class RoundsQuery(BaseModel):
    """Which rounds to list; misspelt parameters are refused, not ignored."""

    model_config = ConfigDict(extra="forbid")

    status: RoundStatus | None = Field(None, description="Only rounds of this status.")
    teacher: str | None = Field(
        None, min_length=1, max_length=80, description="Only those that this account described."
    )
    q: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Only those with these words in their request or description.",
    )
    after: int = Field(0, ge=0, le=2**53, description="The cursor: `next` of the page before.")
    limit: int = Field(50, ge=1, le=200, description="The most rounds on a page.")


class Rounds(BaseModel):
    """A page of rounds, by number."""

    rounds: list[RoundState]
    next: int | None = Field(
        description="The cursor of the next page, which may be empty; null if this is the last."
    )


class RoundContent(BaseModel):
    """The candidates of a round, without the request."""

    round: int
    candidates: int
    context: str | None
    texts: list[str] | None
    images: list[str] | None = Field(description="URLs of the pictures.")
    drawing: str | None = Field(
        None, description="An SVG of the chosen response, where it alone is shown."
    )
    form: Literal["steps", "strips"] | None = Field(
        None, description="Whether texts are steps, a line each, or pictures are strips of frames."
    )


class ShownRound(RoundContent):
    """The candidates of a round, without the request and the agent's choice."""

    features: list[list[float]] | None = Field(
        description="The first numbers of the first candidates, if there is nothing else to show."
    )


class NewPreview(Candidates):
    """A request to preview."""

    instruction: InstructionField
    round: int | None = Field(
        None, ge=1, le=2**53, description="Take the candidates of this round."
    )


class Option(BaseModel):
    """A response, as the agent sees it."""

    response: int
    estimate: float
    bonus: float | None


class PreviewAnswer(Option):
    """The response that the agent would choose."""

    drawing: str | None = Field(None, description="An SVG of it, where the agent draws candidates.")

    second: Option | None
    sure: bool
    answer: Answer = Field(description="Sure; or several fit; or unsure, it does not know yet.")
    fitting: list[int] = Field(description="All responses that fit, the best first.")
    says: str = Field(description="How sure the agent is and why, in words.")
    learned: int
    model_version: int
    round: int | None


def content_fields(lesson: str, dim: int, task: TaskRow) -> dict[str, Any]:
    """The content of a round, as the fields of an answer."""
    place = f"/api/v1/lessons/{lesson}/rounds/{task.round}/images"
    images = task.images
    return {
        "round": task.round,
        "candidates": task.candidates(dim) if task.drawing is None else 1,
        "drawing": task.drawing,
        "context": task.context,
        "texts": task.texts,
        "form": task.form,
        "images": None if images is None else [f"{place}/{i}.png" for i in range(images)],
    }
