"""Everything that stands between an app and whoever reaches it."""

from __future__ import annotations

from fastapi import FastAPI

from tellback.classroom.settings import Settings
from tellback.classroom.web.attempts import Attempts
from tellback.classroom.web.headers import SafeHeaders
from tellback.classroom.web.known import Known
from tellback.classroom.web.limits import BodyLimit, RateLimit
from tellback.classroom.web.logs import RequestLog
from tellback.classroom.web.origins import OwnOrigin
from tellback.classroom.web.refusals import answer_refusals


def guard(app: FastAPI, settings: Settings) -> None:
    """Put the layers around an app, and give it what endpoints need to know callers by."""
    app.state.known = Known()
    app.state.attempts = Attempts()
    answer_refusals(app)
    # From the inside out: the last to be added is the first to see a request.
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(RateLimit, settings=settings, known=app.state.known)
    app.add_middleware(OwnOrigin, settings=settings)
    app.add_middleware(RequestLog)
    app.add_middleware(SafeHeaders, secure=settings.secure)
