"""Signing in and out, and one's own account."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response

from tellback.classroom.store import accounts, sessions
from tellback.classroom.web.dependencies import AClassroom, AsTeacher, demand_accounts
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.problems import Problem, unauthorized
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.accounts import Me, PasswordChange, SignIn
from tellback.classroom.web.security.authentication import caller_cache_of, session_of
from tellback.classroom.web.security.callers import Caller, Role
from tellback.classroom.web.security.credentials import cookie_name
from tellback.classroom.web.security.rate_limits import LoginLimiter, address_of

router = api_router("accounts")


@router.post("/login", response_model=Me, responses=problems(422))
def sign_in(body: SignIn, room: AClassroom, request: Request, response: Response) -> Caller:
    """Sign in: sets the session's cookie."""
    demand_accounts(room)
    _count_attempt(request, body.name)
    account = accounts.signed_in(room.database, body.name, body.password)
    if account is None:
        raise unauthorized("wrong_password", "The name or the password is wrong.")
    before = session_of(request)
    if before is not None:  # nobody may fix a session's secret before somebody signs in
        sessions.end(room.database, before)
        caller_cache_of(request).forget()
    _begin_session(room, response, account.id)
    caller = Caller(account.id, account.name, Role(account.role))
    request.scope.setdefault("state", {})["caller"] = caller
    return caller


@router.post("/logout", status_code=204)
def sign_out(caller: AsTeacher, room: AClassroom, request: Request, response: Response) -> None:
    """Sign out: ends the session. A token stays valid until it is revoked."""
    secret = session_of(request)
    if secret is not None:
        sessions.end(room.database, secret)
        caller_cache_of(request).forget()
    secure = room.settings.secure
    response.delete_cookie(cookie_name(secure), **_cookie(secure))


@router.get("/me", response_model=Me, operation_id="get_me")
def me(caller: AsTeacher) -> Caller:
    """Your account and role."""
    return caller


@router.put("/me/password", response_model=Me, responses=problems(422))
def change_password(
    body: PasswordChange, caller: AsTeacher, room: AClassroom, request: Request, response: Response
) -> Caller:
    """Change your own password: all your sessions end, and this one starts anew."""
    demand_accounts(room)
    _count_attempt(request, caller.name)
    if accounts.signed_in(room.database, caller.name, body.current) is None:
        raise Problem(403, "wrong_password", "The current password is wrong.", "current")
    accounts.change(room.database, caller.account, password=body.new)
    caller_cache_of(request).forget()
    if session_of(request) is not None:
        _begin_session(room, response, caller.account)
    return caller


def _count_attempt(request: Request, name: str) -> None:
    limiter: LoginLimiter = request.app.state.login_limiter
    limiter.demand(name, address_of(request.scope))


def _begin_session(room: AClassroom, response: Response, account: str) -> None:
    secret = sessions.create(room.database, account)
    secure, longest = room.settings.secure, int(sessions.LONGEST_SECONDS)
    response.set_cookie(cookie_name(secure), secret, max_age=longest, **_cookie(secure))


def _cookie(secure: bool) -> dict[str, Any]:
    return {"path": "/", "secure": secure, "httponly": True, "samesite": "lax"}
