"""Accounts, for admins."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request

from tellback.classroom.store import accounts
from tellback.classroom.web.dependencies import AClassroom, AsAdmin
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.problems import conflict, not_found
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.accounts import AccountAnswer, AccountChange, NewAccount, RowId
from tellback.classroom.web.security.authentication import caller_cache_of
from tellback.classroom.web.security.callers import Role

router = api_router("accounts", prefix="/accounts")


@router.get("")
def list_accounts(caller: AsAdmin, room: AClassroom) -> Sequence[AccountAnswer]:
    """All accounts, by name."""
    return [_answer(account) for account in accounts.listed(room.database)]


@router.post("", status_code=201, responses=problems(422))
def create_account(body: NewAccount, caller: AsAdmin, room: AClassroom) -> AccountAnswer:
    """Create an account."""
    try:
        return _answer(accounts.add(room.database, body.name, body.role, body.password))
    except accounts.NameTakenError as error:
        raise conflict("name_taken", str(error)) from error


@router.patch("/{account}", responses=problems(404, 422))
def change_account(
    account: RowId, body: AccountChange, caller: AsAdmin, room: AClassroom, request: Request
) -> AccountAnswer:
    """Change an account's role or password, or disable it."""
    try:
        changed = accounts.change(
            room.database,
            account,
            role=body.role,
            disabled=body.disabled,
            password=body.password,
        )
    except accounts.LastAdminError as error:
        raise conflict("last_admin", str(error)) from error
    if changed is None:
        raise not_found("such account")
    caller_cache_of(request).forget_account(account)
    return _answer(changed)


def _answer(account: accounts.Account) -> AccountAnswer:
    return AccountAnswer(**account._asdict() | {"role": Role(account.role)})
