"""Pages for everybody: the login, the operations of the API, and the list of problems."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from tellback.classroom.store import passwords
from tellback.classroom.store.names import LONGEST_NAME
from tellback.classroom.web.dependencies import AClassroom
from tellback.classroom.web.pages.operations import described_operations
from tellback.classroom.web.pages.rendering import templates
from tellback.classroom.web.problems import PAGE, TITLES

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login(request: Request, room: AClassroom) -> Response:
    """Sign in; without accounts, a redirect to the lessons."""
    if not room.settings.accounts:
        return RedirectResponse("/", status_code=303)
    limits = {"longest_name": LONGEST_NAME, "longest_password": passwords.LONGEST}
    return templates.TemplateResponse(request, "login.html", limits)


@router.get("/docs")
def docs(request: Request) -> Response:
    """All operations of the API, on one page that loads nothing from elsewhere."""
    operations = described_operations(request.app.openapi())
    return templates.TemplateResponse(request, "docs.html", {"groups": operations})


@router.get(PAGE)
def problems(request: Request) -> Response:
    """The codes of problem documents: their ``type`` leads here."""
    return templates.TemplateResponse(request, "problems.html", {"titles": TITLES})
