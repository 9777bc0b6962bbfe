"""Accounts, for admins."""

from __future__ import annotations

from fastapi import Request

from tellback.classroom.store import accounts
from tellback.classroom.store.accounts import Account
from tellback.classroom.web.dependencies import AClassroom, AsAdmin
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.problems import not_found
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.accounts import AccountAnswer, AccountChange, NewAccount
from tellback.classroom.web.schemas.log import AuthorName
from tellback.classroom.web.security.authentication import caller_cache_of

router = api_router("accounts", prefix="/accounts")


@router.get("", response_model=list[AccountAnswer])
def list_accounts(caller: AsAdmin, room: AClassroom) -> list[Account]:
    """All accounts, by name."""
    return accounts.listed(room.database)


@router.post("", status_code=201, response_model=AccountAnswer, responses=problems(422))
def create_account(body: NewAccount, caller: AsAdmin, room: AClassroom) -> Account:
    """Create an account."""
    return accounts.add(room.database, body.name, body.role, body.password)


@router.patch("/{account}", response_model=AccountAnswer, responses=problems(404, 422))
def change_account(
    account: AuthorName, body: AccountChange, caller: AsAdmin, room: AClassroom, request: Request
) -> Account:
    """Change an account's role or password, or disable it."""
    identity = accounts.author(room.database, account, for_admin=True)
    changed = accounts.change(room.database, identity, **body.model_dump())
    if changed is None:
        raise not_found("such account")
    caller_cache_of(request).forget()
    return changed
