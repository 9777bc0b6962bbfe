"""The page on which people sign in."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse
from starlette.templating import Jinja2Templates

from tellback.classroom.settings import Settings
from tellback.classroom.store import passwords
from tellback.classroom.store.names import LONGEST_NAME

router = APIRouter(include_in_schema=False)
_templates = Jinja2Templates(directory=Path(__file__).parent / "templates")


@router.get("/login")
def login(request: Request) -> Response:
    """Sign in; without accounts there is nothing to sign in to."""
    settings: Settings = request.app.state.classroom.settings
    if not settings.accounts:
        return RedirectResponse("/", status_code=303)
    limits = {"longest_name": LONGEST_NAME, "longest_password": passwords.LONGEST}
    return _templates.TemplateResponse(request, "login.html", limits)
