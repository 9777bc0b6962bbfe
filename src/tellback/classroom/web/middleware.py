"""The layers between an app and its callers."""

from __future__ import annotations

from fastapi import FastAPI

from tellback.classroom.settings import Settings
from tellback.classroom.web.monitoring.metrics import Metrics, RequestMetrics
from tellback.classroom.web.monitoring.request_log import RequestLog
from tellback.classroom.web.problem_handlers import handle_problems
from tellback.classroom.web.security.body_limit import BodyLimit
from tellback.classroom.web.security.caller_cache import CallerCache
from tellback.classroom.web.security.headers import SecurityHeaders
from tellback.classroom.web.security.login_limiter import LoginLimiter
from tellback.classroom.web.security.rate_limit import RateLimit
from tellback.classroom.web.security.same_origin import SameOrigin


def add_middleware(app: FastAPI, settings: Settings) -> None:
    """Add all layers to an app, and the state that endpoints share with them."""
    app.state.caller_cache = CallerCache()
    app.state.login_limiter = LoginLimiter()
    app.state.metrics = Metrics()
    handle_problems(app)
    # From the inside out: the last to be added is the first to see a request.
    app.add_middleware(RequestMetrics, metrics=app.state.metrics)
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(RateLimit, settings=settings, caller_cache=app.state.caller_cache)
    app.add_middleware(SameOrigin, settings=settings)
    app.add_middleware(RequestLog)
    app.add_middleware(SecurityHeaders, secure=settings.secure)
