"""Who calls, and whether their role is enough."""

from __future__ import annotations

from functools import cache

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.concurrency import run_in_threadpool

from tellback.classroom.settings import Settings
from tellback.classroom.store import sessions, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.secrets import TOKEN
from tellback.classroom.web.problems import Problem, forbidden, unauthorized
from tellback.classroom.web.security.caller_cache import CallerCache
from tellback.classroom.web.security.callers import ON_OWN_MACHINE, Caller, Role
from tellback.classroom.web.security.credentials import Credential, credential_of

ACCOUNT_HEADER = "Tellback-Account"
"""The account that a page was made for. Another one may have signed in since, in another tab."""


class Needs(SecurityBase):
    """A dependency of endpoints: the caller, who has at least a role."""

    def __init__(self, role: Role) -> None:
        self.role = role
        # For the description of the API.
        self.scheme_name = "token"
        self.model = HTTPBearer(
            description="A token of an account, tb_...; or, from our own pages, the cookie of a "
            "session together with an Origin header that names this service."
        )

    async def __call__(self, request: Request) -> Caller:
        """The caller; a problem if they are unknown or their role is not enough."""
        state = request.scope.setdefault("state", {})
        caller: Caller | None = state.get("caller")
        if caller is None:  # else it was known before the body was read
            caller = state["caller"] = await _caller(request)
        if not caller.role.may(self.role):
            raise forbidden(
                f"That needs the role {self.role}, and you have the role {caller.role}."
            )
        if request.headers.get(ACCOUNT_HEADER, caller.account) != caller.account:
            raise ConflictError(
                "other_account", f"You are signed in as {caller.name} now: reload the page."
            )
        return caller


@cache
def needs(role: Role) -> Needs:
    """A dependency of endpoints: the caller, who has at least this role."""
    return Needs(role)


async def still_is(request: Request, caller: Caller) -> bool:
    """Whether the credential of a request is still that of its caller, some time later."""
    try:
        return (await _caller(request)).account == caller.account
    except Problem:
        return False


def session_of(request: Request) -> str | None:
    """The secret of the request's session, if it has one."""
    credential = credential_of(request.scope, _settings(request).secure)
    return credential.secret if credential and credential.from_cookie else None


def caller_cache_of(request: Request) -> CallerCache:
    """The callers that this process remembers."""
    found: CallerCache = request.app.state.caller_cache
    return found


async def _caller(request: Request) -> Caller:
    settings = _settings(request)
    if not settings.accounts:
        return ON_OWN_MACHINE
    credential = credential_of(request.scope, settings.secure)
    if credential is None:
        raise unauthorized("not_signed_in", "Sign in, or send a token.")
    cache = caller_cache_of(request)
    caller = cache.caller(credential)
    if caller is None:
        generation = cache.generation
        database: Database = request.app.state.classroom.database
        holder = await run_in_threadpool(_holder, database, credential)
        if holder is None:
            what = "Your session has ended" if credential.from_cookie else "The token is not valid"
            raise unauthorized("not_signed_in", f"{what}: sign in, or send another token.")
        caller = Caller(holder.account, holder.name, Role(holder.role))
        cache.remember(credential, caller, holder.expires, generation)
    return caller


def _holder(database: Database, credential: Credential) -> sessions.Holder | None:
    if credential.from_cookie:
        return sessions.find(database, credential.secret)
    if not credential.secret.startswith(TOKEN):
        return None
    return tokens.find(database, credential.secret)


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.classroom.settings
    return settings
