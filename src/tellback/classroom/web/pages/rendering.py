"""Templates, and the visitor of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request, Response
from starlette.responses import RedirectResponse
from starlette.templating import Jinja2Templates

from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.pages.assets import asset
from tellback.classroom.web.problems import Problem
from tellback.classroom.web.schemas.common import LONGEST_SENTENCE
from tellback.classroom.web.security.authentication import needs
from tellback.classroom.web.security.callers import Caller, Role

templates = Jinja2Templates(directory=Path(__file__).parent / "templates")
templates.env.globals["asset"] = asset
templates.env.globals["longest_sentence"] = LONGEST_SENTENCE


async def _visitor(request: Request) -> Caller | None:
    try:
        return await needs(Role.TEACHER)(request)
    except Problem as problem:
        if problem.status != 401:
            raise
        return None


Visitor = Annotated[Caller | None, Depends(_visitor)]
"""The caller of a page; None if they must sign in first."""


def render(
    request: Request, room: Classroom, visitor: Caller, name: str, status: int = 200, **more: Any
) -> Response:
    """A page for a visitor."""
    values = {
        "visitor": visitor,
        "accounts": room.settings.accounts,
        "lease": room.settings.lease_seconds,
    }
    return templates.TemplateResponse(request, name, values | more, status)


def to_login(request: Request) -> Response:
    """A redirect to the login page, and from there back."""
    return RedirectResponse(f"/login?next={quote(request.url.path, safe='/')}", 303)
