"""Signing in, accounts and tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field, StrictInt

from tellback.classroom.store import passwords
from tellback.classroom.store.names import LONGEST_NAME
from tellback.classroom.store.secrets import ID_PATTERN
from tellback.classroom.web.schemas.common import Body
from tellback.classroom.web.security.callers import Role

LONGEST_DAYS = 3650

RowId = Annotated[str, Path(pattern=ID_PATTERN, description="An id from an earlier answer.")]
Name = Annotated[
    str, Field(min_length=1, max_length=LONGEST_NAME, description="Printable characters.")
]
Password = Annotated[str, Field(min_length=1, max_length=passwords.LONGEST)]
NewPassword = Annotated[
    str,
    Field(
        min_length=passwords.SHORTEST,
        max_length=passwords.LONGEST,
        description="Any characters; only its hash is kept.",
    ),
]


class SignIn(Body):
    """A name and a password."""

    name: Name
    password: Password


class Me(BaseModel):
    """The caller."""

    account: str = Field(description="The account's id.")
    name: str = Field(description="The account's name.")
    role: Role = Field(description="What it may do.")


class PasswordChange(Body):
    """A new password for the caller."""

    current: Password
    new: NewPassword


class NewAccount(Body):
    """An account to create."""

    name: Name
    role: Role = Field(default=Role.TEACHER, strict=False, description="What it may do.")
    password: NewPassword


class AccountChange(Body):
    """Changes of an account; omitted fields stay as they are."""

    role: Annotated[Role, Field(strict=False)] | None = Field(
        default=None, description="What it may do from now on."
    )
    disabled: bool | None = Field(
        default=None, description="Disabling ends its sessions and revokes its tokens for good."
    )
    password: NewPassword | None = Field(
        default=None, description="A new password; it ends the account's sessions."
    )


class AccountAnswer(BaseModel):
    """An account."""

    id: str = Field(description="The account's id.")
    name: str = Field(description="The account's name.")
    role: Role = Field(description="What it may do.")
    disabled: bool = Field(description="Whether it is disabled.")
    created: float = Field(description="When it was created, in seconds since 1970.")


class NewToken(Body):
    """A token to create."""

    name: Name = Field(description="Its purpose.")
    days: Annotated[StrictInt, Field(ge=1, le=LONGEST_DAYS)] | None = Field(
        default=None, description="In how many days it expires; null for never."
    )
    account: Name | None = Field(
        default=None, description="Its account, by id or name, if not your own; for admins."
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
