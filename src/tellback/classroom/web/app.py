"""The service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from tellback import __version__
from tellback.classroom.settings import Settings
from tellback.classroom.web import pages, pages_login
from tellback.classroom.web.api import (
    accounts,
    asking,
    checks,
    hooks,
    lessons,
    log,
    progress,
    replays,
    rollback,
    rounds,
    teaching,
)
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.guard import guard
from tellback.classroom.web.health import watch

API = "/api/v1"
PARTS = (  # those that are asked most come first: paths are looked for in this order
    rounds,
    teaching,
    asking,
    lessons,
    accounts,
    log,
    progress,
    checks,
    rollback,
    replays,
    hooks,
)


def create_app(settings: Settings) -> FastAPI:
    """The service, ready to be run by uvicorn.

    Parameters
    ----------
    settings : Settings
        How it is run.
    """
    room = Classroom(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        room.open()
        yield
        room.close()

    app = FastAPI(
        title="tellback classroom",
        version=__version__,
        summary="People teach an agent by describing what it did.",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.classroom = room
    watch(app)
    guard(app, settings)
    for part in PARTS:
        app.include_router(part.router, prefix=API)
    app.include_router(pages.router)
    app.include_router(pages_login.router)
    pages.mount_static(app)
    return app
