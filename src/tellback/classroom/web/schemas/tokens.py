"""Tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, StrictInt

from tellback.classroom.web.schemas.accounts import ID_PATTERN, Name
from tellback.classroom.web.schemas.common import Body

LONGEST_DAYS = 3650


class NewToken(Body):
    """A token to create."""

    name: Name = Field(description="Its purpose.")
    days: Annotated[StrictInt, Field(ge=1, le=LONGEST_DAYS)] | None = Field(
        default=None, description="In how many days it expires; null for never."
    )
    account: Annotated[str, Field(pattern=ID_PATTERN)] | None = Field(
        default=None, description="Its account, if not your own; for admins."
    )


class TokenAnswer(BaseModel):
    """A token, without its secret."""

    id: str = Field(description="The token's id.")
    account: str = Field(description="Its account.")
    name: str = Field(description="Its purpose.")
    created: float = Field(description="When it was created, in seconds since 1970.")
    expires: float | None = Field(description="When it expires, in seconds since 1970.")
    revoked: bool = Field(description="Whether it was revoked.")


class NewTokenAnswer(TokenAnswer):
    """A new token, with its secret."""

    secret: str = Field(description="The bearer token to send; it is not shown again.")
