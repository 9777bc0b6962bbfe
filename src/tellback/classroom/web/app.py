"""The service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from tellback import __version__
from tellback.classroom.settings import Settings
from tellback.classroom.web.api import (
    accounts,
    apprentice,
    checks,
    claims,
    descriptions,
    exports,
    imports,
    judgements,
    known,
    lessons,
    own_material,
    preview,
    progress,
    questions,
    replays,
    reviews,
    rollback,
    rounds,
    sessions,
    suggestions,
    tokens,
    updates,
    webhooks,
)
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.monitoring import health
from tellback.classroom.web.monitoring.metrics import Metrics, RequestMetrics
from tellback.classroom.web.monitoring.request_log import RequestLog
from tellback.classroom.web.pages import lesson_pages, managing_pages, public_pages
from tellback.classroom.web.pages.assets import mount_assets
from tellback.classroom.web.problem_handlers import DescribedApp, handle_problems
from tellback.classroom.web.routing import HeadAsGet
from tellback.classroom.web.security.body_limit import BodyLimit
from tellback.classroom.web.security.caller_cache import CallerCache
from tellback.classroom.web.security.headers import SecurityHeaders
from tellback.classroom.web.security.rate_limits import LoginLimiter, RateLimit
from tellback.classroom.web.security.revocations import Revocations
from tellback.classroom.web.security.same_origin import SameOrigin

API = "/api/v1"
ROUTERS = (  # the busiest first: routes are matched in this order
    rounds,
    claims,
    descriptions,
    questions,
    preview,
    lessons,
    own_material,
    sessions,
    accounts,
    tokens,
    exports,
    imports,
    progress,
    updates,
    checks,
    judgements,
    known,
    suggestions,
    apprentice,
    reviews,
    rollback,
    replays,
    webhooks,
)


def create_app(settings: Settings, shared: Path | None = None) -> FastAPI:
    """The service, ready to be run by uvicorn.

    Parameters
    ----------
    settings : Settings
        The settings of the classroom.
    shared : Path, optional
        The file by which its processes tell each other of revoked credentials.
    """
    room = Classroom(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        room.open()
        yield
        room.close()

    app = DescribedApp(
        title="tellback classroom",
        version=__version__,
        summary="People teach an agent by describing what it did.",
        generate_unique_id_function=lambda route: route.name,  # generated clients name methods so
        # The pages of FastAPI load scripts from elsewhere; /docs is our own.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.classroom = room
    add_middleware(app, settings, shared)
    app.include_router(health.router)
    for module in ROUTERS:
        app.include_router(module.router, prefix=API)
    app.include_router(lesson_pages.router)
    app.include_router(managing_pages.router)
    app.include_router(public_pages.router)
    mount_assets(app)
    return app


def add_middleware(app: FastAPI, settings: Settings, shared: Path | None = None) -> None:
    """Add all layers to an app, and the state that endpoints share with them."""
    app.state.caller_cache = CallerCache(Revocations(shared))
    app.state.login_limiter = LoginLimiter(app.state.classroom.database)
    app.state.metrics = Metrics()
    handle_problems(app)
    # From the inside out: the last to be added is the first to see a request.
    app.add_middleware(HeadAsGet)
    app.add_middleware(RequestMetrics, metrics=app.state.metrics)
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(RateLimit, settings=settings, caller_cache=app.state.caller_cache)
    app.add_middleware(SameOrigin, settings=settings)
    app.add_middleware(RequestLog)
    app.add_middleware(SecurityHeaders, secure=settings.secure)
