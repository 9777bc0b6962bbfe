"""Tokens, with which programs authenticate."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from tellback.classroom.store import accounts, tokens
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.tokens import Token
from tellback.classroom.web.dependencies import AClassroom, AsEngineer, demand_accounts
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.problems import forbidden, not_found
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.accounts import NewToken, NewTokenAnswer, RowId, TokenAnswer
from tellback.classroom.web.security.authentication import caller_cache_of
from tellback.classroom.web.security.callers import Role

router = api_router("accounts", 422, prefix="/tokens")

DAY_SECONDS = 24 * 3600.0


@router.get("", response_model=list[TokenAnswer])
def list_tokens(
    caller: AsEngineer,
    room: AClassroom,
    everybody: Annotated[bool, Query(description="Those of all accounts; for admins.")] = False,
) -> list[Token]:
    """Your tokens, expired and revoked ones included."""
    if everybody and not caller.role.may(Role.ADMIN):
        raise forbidden("Only an admin sees the tokens of others.")
    return tokens.listed(room.database, None if everybody else caller.account)


@router.post("", status_code=201, responses=problems(404))
def create_token(body: NewToken, caller: AsEngineer, room: AClassroom) -> NewTokenAnswer:
    """Create a token. Its secret is in this answer and nowhere else."""
    demand_accounts(room)
    owner = caller.account
    if body.account is not None:
        if body.account not in (owner, caller.name) and not caller.role.may(Role.ADMIN):
            raise forbidden("Only an admin makes tokens for others.")
        found = accounts.named(room.database, body.account)
        if found.disabled:
            raise ConflictError("disabled", "That account is disabled.")
        owner = found.id
    lasts = body.days * DAY_SECONDS if body.days is not None else None
    token, secret = tokens.make(room.database, owner, body.name, lasts)
    return NewTokenAnswer(**token._asdict(), secret=secret)


@router.delete("/{token}", status_code=204, responses=problems(404))
def revoke_token(token: RowId, caller: AsEngineer, room: AClassroom, request: Request) -> None:
    """Revoke a token: it is refused at once."""
    owner = None if caller.role.may(Role.ADMIN) else caller.account
    revoked = tokens.revoke(room.database, token, owner)
    if revoked is None:
        raise not_found("such token")
    caller_cache_of(request).forget()
