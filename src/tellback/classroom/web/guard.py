"""Everything that stands between an app and whoever reaches it."""

from __future__ import annotations

from fastapi import FastAPI

from tellback.classroom.settings import Settings
from tellback.classroom.web.caller_cache import CallerCache
from tellback.classroom.web.headers import SafeHeaders
from tellback.classroom.web.limits import BodyLimit, RateLimit
from tellback.classroom.web.login_limiter import LoginLimiter
from tellback.classroom.web.logs import RequestLog
from tellback.classroom.web.problem_responses import answer_refusals
from tellback.classroom.web.same_origin import OwnOrigin


def guard(app: FastAPI, settings: Settings) -> None:
    """Put the layers around an app, and give it what endpoints need to know callers by."""
    app.state.known = CallerCache()
    app.state.attempts = LoginLimiter()
    answer_refusals(app)
    # From the inside out: the last to be added is the first to see a request.
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(RateLimit, settings=settings, known=app.state.known)
    app.add_middleware(OwnOrigin, settings=settings)
    app.add_middleware(RequestLog)
    app.add_middleware(SafeHeaders, secure=settings.secure)
