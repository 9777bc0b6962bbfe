"""Export, import, rollback and redaction of a lesson's log."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field

from tellback.classroom.store.names import LONGEST_NAME
from tellback.classroom.web.schemas.common import Body

AuthorName = Annotated[
    str,
    InPath(min_length=1, max_length=LONGEST_NAME, description="The account: its id or name."),
]


class ExportQuery(BaseModel):
    """The parameters of an export; misspelt ones are refused, not ignored."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["jsonl", "parquet", "log", "chat", "recording"] = "jsonl"
    images: bool = Field(False, description="Whether to include pictures, in jsonl and parquet.")
    context: bool = Field(True, description="Whether chat messages tell the situation.")
    candidates: bool = Field(False, description="Whether chat messages list all responses.")


class ImportedAnswer(BaseModel):
    """What was imported."""

    rounds: int
    descriptions: int = Field(description="Imported descriptions, active or not.")
    first_round: int | None = Field(description="The number of the first new round.")
    events: int = Field(description="The number of the lesson's latest event now.")


class RollbackTarget(Body):
    """An event to roll back to."""

    to: int = Field(ge=0, le=2**53, description="The event's number; 0 is before all.")


class RolledBack(BaseModel):
    """The lesson after a rollback."""

    event: int = Field(description="The number of the rollback's own event.")
    descriptions: int = Field(description="Active descriptions.")


class RedactedAnswer(BaseModel):
    """The result of a redaction."""

    teacher: str = Field(description="The id of the teacher's account.")
    events: int = Field(description="Events of which only a tombstone is left.")
    lessons: int = Field(description="Lessons that had any.")
    scrubbed: bool = Field(
        description="Whether no file has the words any more; false if somebody was reading: "
        "send the request again."
    )
