"""Webhooks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path as InPath
from pydantic import BaseModel, Field

from tellback.classroom.web.schemas.common import Body

WebhookId = Annotated[str, InPath(pattern="^[0-9a-f]{20}$", description="The webhook's id.")]


class NewWebhook(Body):
    """A webhook to create."""

    url: str = Field(min_length=1, max_length=2000, examples=["https://example.org/told"])


class WebhookAnswer(BaseModel):
    """A webhook, and the state of its deliveries."""

    id: str
    url: str
    created: float
    waiting: int
    given_up: int
    latest_delivered: int | None = Field(description="The latest event that was delivered.")
    trouble: str | None = Field(description="Error of the last failed delivery.")


class NewWebhookAnswer(BaseModel):
    """A new webhook, with its secret."""

    id: str
    url: str
    secret: str = Field(description="Signs each delivery. It is shown this once.")


class Webhooks(BaseModel):
    """The webhooks of a lesson."""

    webhooks: list[WebhookAnswer]
