"""The page on which people sign in."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from tellback.classroom.settings import Settings
from tellback.classroom.store import passwords
from tellback.classroom.store.names import LONGEST_NAME
from tellback.classroom.web.pages import templates

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login(request: Request) -> Response:
    """Sign in; without accounts there is nothing to sign in to."""
    settings: Settings = request.app.state.classroom.settings
    if not settings.accounts:
        return RedirectResponse("/", status_code=303)
    limits = {"longest_name": LONGEST_NAME, "longest_password": passwords.LONGEST}
    return templates.TemplateResponse(request, "login.html", limits)
