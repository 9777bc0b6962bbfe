"""Signing in and out, accounts, and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, passwords, sessions, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.store.names import LONGEST_NAME
from tellback.classroom.store.secrets import csrf_of, digest
from tellback.classroom.web.callers import Caller, Role
from tellback.classroom.web.credentials import cookie_name
from tellback.classroom.web.limits import address_of
from tellback.classroom.web.login_limiter import LoginLimiter
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.problems import Problem, conflict, forbidden, not_found
from tellback.classroom.web.security import known_of, needs, session_of
from tellback.classroom.web.strict_json import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["accounts"])

DAY_SECONDS = 24 * 3600.0
LONGEST_DAYS = 3650
_ID = "^[0-9a-f]{20}$"

AsTeacher = Annotated[Caller, Depends(needs(Role.TEACHER))]
AsEngineer = Annotated[Caller, Depends(needs(Role.ENGINEER))]
AsAdmin = Annotated[Caller, Depends(needs(Role.ADMIN))]
Identity = Annotated[str, Path(pattern=_ID, description="An id, as it was given.")]
Name = Annotated[
    str, Field(min_length=1, max_length=LONGEST_NAME, description="Printable characters.")
]
NewPassword = Annotated[
    str,
    Field(
        min_length=passwords.SHORTEST,
        max_length=passwords.LONGEST,
        description="Any characters; only its hash is kept.",
    ),
]
TriedPassword = Annotated[
    str, Field(min_length=1, max_length=passwords.LONGEST, description="The password.")
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SignIn(_Body):
    """Who wants to sign in."""

    name: Annotated[
        str, Field(min_length=1, max_length=LONGEST_NAME, description="The account's name.")
    ]
    password: TriedPassword


class Me(_Body):
    """Who calls."""

    account: str = Field(description="The account's id.")
    name: str = Field(description="The account's name.")
    role: Role = Field(description="What it may do.")
    csrf: str | None = Field(
        description="What a page sends as X-CSRF-Token with each change; programs need none."
    )


class PasswordChange(_Body):
    """A new password for oneself."""

    current: TriedPassword
    new: NewPassword


class NewAccount(_Body):
    """An account to be made."""

    name: Name
    role: Role = Field(default=Role.TEACHER, strict=False, description="What it may do.")
    password: NewPassword


class AccountChange(_Body):
    """What is to change; what is left out stays."""

    role: Annotated[Role, Field(strict=False)] | None = Field(
        default=None, description="What it may do from now on."
    )
    disabled: bool | None = Field(
        default=None, description="Whether it is shut; its sessions and tokens end for good."
    )
    password: NewPassword | None = Field(
        default=None, description="A new password; it ends the account's sessions."
    )


class ShownAccount(_Body):
    """An account."""

    id: str = Field(description="The account's id.")
    name: str = Field(description="The account's name.")
    role: Role = Field(description="What it may do.")
    disabled: bool = Field(description="Whether it is shut.")
    created: float = Field(description="When it was made, in seconds since 1970.")


class NewToken(_Body):
    """A token to be made."""

    name: Annotated[
        str, Field(min_length=1, max_length=LONGEST_NAME, description="What it is for.")
    ]
    days: Annotated[StrictInt, Field(ge=1, le=LONGEST_DAYS)] | None = Field(
        default=None, description="In how many days it expires; without, when it is revoked."
    )
    account: Annotated[str, Field(pattern=_ID)] | None = Field(
        default=None, description="Whose it is to be, if not your own; for admins."
    )


class ShownToken(_Body):
    """A token, without its secret."""

    id: str = Field(description="The token's id.")
    account: str = Field(description="Whose it is.")
    name: str = Field(description="What it is for.")
    created: float = Field(description="When it was made, in seconds since 1970.")
    expires: float | None = Field(description="When it expires, in seconds since 1970.")
    revoked: bool = Field(description="Whether it was revoked.")


class MadeToken(ShownToken):
    """A token, with its secret."""

    secret: str = Field(description="What to send as a bearer token; it is not shown again.")


@router.post("/login", responses=refusals(401, 403, 409, 422))
def sign_in(body: SignIn, request: Request, response: Response) -> Me:
    """Sign in: sets the session's cookie."""
    settings = _settings(request)
    if not settings.accounts:
        raise conflict("no_accounts", "This classroom has no accounts: nobody needs to sign in.")
    _attempts(request).demand(body.name, address_of(request.scope))
    database = _database(request)
    account = accounts.signed_in(database, body.name, body.password)
    if account is None:
        raise Problem(401, "wrong", "The name or the password is wrong.", headers=_CHALLENGE)
    before = session_of(request)
    if before is not None:  # what a browser brought along from before is worth nothing now
        sessions.end(database, before)
        known_of(request).forget_this(digest(before))
    csrf = _begin_session(request, response, account.id)
    role = Role(account.role)
    request.scope.setdefault("state", {})["caller"] = Caller(account.id, account.name, role)
    return Me(account=account.id, name=account.name, role=role, csrf=csrf)


@router.post("/logout", status_code=204, responses=refusals(401, 403))
def sign_out(caller: AsTeacher, request: Request, response: Response) -> None:
    """Sign out: ends the session. A token is not ended by this, but by revoking it."""
    secret = session_of(request)
    if secret is not None:
        sessions.end(_database(request), secret)
        known_of(request).forget_this(digest(secret))
    secure = _settings(request).secure
    response.delete_cookie(cookie_name(secure), **_cookie(secure))


@router.get("/me", responses=refusals(401, 403))
def me(caller: AsTeacher, request: Request) -> Me:
    """Who you are, and what a page needs to make changes."""
    secret = session_of(request) if _settings(request).accounts else None
    return Me(
        account=caller.account,
        name=caller.name,
        role=caller.role,
        csrf=csrf_of(secret) if secret else None,
    )


@router.put("/me/password", responses=refusals(401, 403, 409, 422))
def change_password(
    body: PasswordChange, caller: AsTeacher, request: Request, response: Response
) -> Me:
    """Change your own password: all your sessions end, and this one is begun anew."""
    _demand_accounts(request)
    _attempts(request).demand(caller.name, address_of(request.scope))
    database = _database(request)
    if accounts.signed_in(database, caller.name, body.current) is None:
        raise Problem(403, "wrong", "The current password is wrong.", "current")
    accounts.change(database, caller.account, password=body.new)
    known_of(request).forget(caller.account)
    csrf = None
    if session_of(request) is not None:
        csrf = _begin_session(request, response, caller.account)
    return Me(account=caller.account, name=caller.name, role=caller.role, csrf=csrf)


@router.get("/accounts", responses=refusals(401, 403))
def list_accounts(caller: AsAdmin, request: Request) -> Sequence[ShownAccount]:
    """All accounts, by name."""
    return [_shown_account(one) for one in accounts.listed(_database(request))]


@router.post("/accounts", status_code=201, responses=refusals(401, 403, 409, 422))
def add_account(body: NewAccount, caller: AsAdmin, request: Request) -> ShownAccount:
    """Make an account."""
    try:
        made = accounts.add(_database(request), body.name, body.role, body.password)
    except accounts.NameTakenError as error:
        raise conflict("name_taken", str(error)) from error
    return _shown_account(made)


@router.patch("/accounts/{account}", responses=refusals(401, 403, 404, 409, 422))
def change_account(
    account: Identity, body: AccountChange, caller: AsAdmin, request: Request
) -> ShownAccount:
    """Change an account's role or password, or shut it."""
    try:
        changed = accounts.change(
            _database(request),
            account,
            role=body.role,
            disabled=body.disabled,
            password=body.password,
        )
    except accounts.LastAdminError as error:
        raise conflict("last_admin", str(error)) from error
    if changed is None:
        raise not_found("such account")
    known_of(request).forget(account)
    return _shown_account(changed)


@router.get("/tokens", responses=refusals(401, 403, 422))
def list_tokens(
    caller: AsEngineer,
    request: Request,
    everybody: Annotated[bool, Query(description="Those of all accounts; for admins.")] = False,
) -> Sequence[ShownToken]:
    """Your tokens, also those that no longer count."""
    if everybody and not caller.role.may(Role.ADMIN):
        raise forbidden("Only an admin sees the tokens of others.")
    found = tokens.listed(_database(request), None if everybody else caller.account)
    return [ShownToken(**one._asdict()) for one in found]


@router.post("/tokens", status_code=201, responses=refusals(401, 403, 404, 409, 422))
def make_token(body: NewToken, caller: AsEngineer, request: Request) -> MadeToken:
    """Make a token. Its secret is in this answer and nowhere else."""
    _demand_accounts(request)
    database = _database(request)
    owner = body.account or caller.account
    if owner != caller.account:
        if not caller.role.may(Role.ADMIN):
            raise forbidden("Only an admin makes tokens for others.")
        found = accounts.find(database, owner)
        if found is None:
            raise not_found("such account")
        if found.disabled:
            raise conflict("disabled", "That account is disabled.")
    lasts = body.days * DAY_SECONDS if body.days is not None else None
    token, secret = tokens.make(database, owner, body.name, lasts)
    return MadeToken(**token._asdict(), secret=secret)


@router.delete("/tokens/{token}", status_code=204, responses=refusals(401, 403, 404, 422))
def revoke_token(token: Identity, caller: AsEngineer, request: Request) -> None:
    """Revoke a token: this process refuses it at once, others within some seconds."""
    whose = None if caller.role.may(Role.ADMIN) else caller.account
    revoked = tokens.revoke(_database(request), token, whose)
    if revoked is None:
        raise not_found("such token")
    known_of(request).forget(revoked.account)


_CHALLENGE = {"WWW-Authenticate": "Bearer"}


def _begin_session(request: Request, response: Response, account: str) -> str:
    secret, csrf = sessions.create(_database(request), account)
    secure = _settings(request).secure
    longest = int(sessions.LONGEST_SECONDS)
    response.set_cookie(cookie_name(secure), secret, max_age=longest, **_cookie(secure))
    return csrf


def _cookie(secure: bool) -> dict[str, Any]:
    return {"path": "/", "secure": secure, "httponly": True, "samesite": "lax"}


def _shown_account(account: accounts.Account) -> ShownAccount:
    shown = account._asdict() | {"role": Role(account.role)}
    return ShownAccount(**shown)


def _demand_accounts(request: Request) -> None:
    if not _settings(request).accounts:
        raise conflict("no_accounts", "This classroom has no accounts.")


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.classroom.settings
    return settings


def _database(request: Request) -> Database:
    database: Database = request.app.state.classroom.database
    return database


def _attempts(request: Request) -> LoginLimiter:
    attempts: LoginLimiter = request.app.state.attempts
    return attempts
