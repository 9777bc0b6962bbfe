"""Who may do what."""

from __future__ import annotations

import hmac
from functools import cache

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.concurrency import run_in_threadpool

from tellback.classroom.settings import Settings, is_loopback
from tellback.classroom.store import accounts, sessions, tokens
from tellback.classroom.store.database import Database
from tellback.classroom.store.secrets import TOKEN, csrf_of, digest
from tellback.classroom.web.caller_cache import CallerCache
from tellback.classroom.web.callers import ON_OWN_MACHINE, Caller, Role
from tellback.classroom.web.credentials import Credential, credential_of
from tellback.classroom.web.problems import Problem, forbidden, not_signed_in
from tellback.classroom.web.same_origin import SAFE
from tellback.errors import TellbackError

CSRF_HEADER = "X-CSRF-Token"


class Needs(SecurityBase):
    """A dependency of endpoints: the caller, who has at least a role."""

    def __init__(self, role: Role) -> None:
        self.role = role
        # How the API's description says it.
        self.scheme_name = "token"
        self.model = HTTPBearer(
            description="A token of an account, tb_...; or, from our own pages, the cookie of a "
            f"session, and with each change its {CSRF_HEADER}."
        )

    async def __call__(self, request: Request) -> Caller:
        """Who calls; refused are those who are unknown and those who may not."""
        caller = await _caller(request)
        request.scope.setdefault("state", {})["caller"] = caller
        if not caller.role.may(self.role):
            raise forbidden(
                f"That needs the role {self.role}, and you have the role {caller.role}."
            )
        return caller


@cache
def needs(role: Role) -> Needs:
    """A dependency of endpoints: the caller, who has at least this role."""
    return Needs(role)


def session_of(request: Request) -> str | None:
    """The secret of the session that a request belongs to, if it does."""
    credential = credential_of(request.scope, _settings(request).secure)
    return credential.secret if credential and credential.from_cookie else None


def known_of(request: Request) -> CallerCache:
    """The callers that this process remembers."""
    known: CallerCache = request.app.state.known
    return known


async def _caller(request: Request) -> Caller:
    settings = _settings(request)
    if not settings.accounts:
        return ON_OWN_MACHINE
    credential = credential_of(request.scope, settings.secure)
    if credential is None:
        raise not_signed_in()
    known = known_of(request)
    kept = digest(credential.secret)
    caller = known.caller(kept)
    if caller is None:
        forgotten = known.forgotten
        database: Database = request.app.state.classroom.database
        holder = await run_in_threadpool(_holder, database, credential)
        if holder is None:
            what = (
                "Your session has ended" if credential.from_cookie else "The token does not count"
            )
            raise not_signed_in(f"{what}: sign in, or bring another token.")
        caller = Caller(holder.account, holder.name, Role(holder.role))
        known.remember(kept, caller, holder.expires, forgotten)
    if credential.from_cookie and request.method not in SAFE:
        _demand_csrf(request, credential.secret)
    return caller


def _holder(database: Database, credential: Credential) -> sessions.Holder | None:
    if credential.from_cookie:
        return sessions.find(database, credential.secret)
    if not credential.secret.startswith(TOKEN):
        return None
    return tokens.find(database, credential.secret)


def _demand_csrf(request: Request, secret: str) -> None:
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(), csrf_of(secret).encode()):
        raise Problem(
            403, "csrf", f"A change from a page needs its {CSRF_HEADER}: reload it.", CSRF_HEADER
        )


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.classroom.settings
    return settings


def demand_accounts(settings: Settings, host: str, database: Database) -> None:
    """Refuse to be reached by other machines while anybody could do anything."""
    if is_loopback(host):
        return
    if not settings.accounts:
        raise TellbackError(
            f"Without accounts a classroom listens on this machine only, not on {host}. Leave the "
            f"accounts on, or listen on 127.0.0.1."
        )
    if not accounts.enabled_admins(database):
        raise TellbackError(
            f"To listen on {host} a classroom needs somebody who manages it. Make an account "
            f"first: tellback accounts add NAME --role admin"
        )
