"""Pages on which lessons are made of one's own material, and accounts are managed."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tellback.classroom.learning.collecting import (
    MOST_FRAMES,
    MOST_PICTURES,
    SIDE,
    usual_encoder,
)
from tellback.classroom.learning.held_out import FEWEST
from tellback.classroom.store import passwords
from tellback.classroom.store.names import LONGEST_NAME
from tellback.classroom.web.dependencies import AClassroom
from tellback.classroom.web.pages.rendering import Visitor, render, to_login
from tellback.classroom.web.problems import forbidden
from tellback.classroom.web.security.callers import Role

router = APIRouter(include_in_schema=False)


@router.get("/new")
def new_lesson(request: Request, room: AClassroom, visitor: Visitor) -> Response:
    """Drop a folder of pictures, a table of texts, or a recording: a new lesson."""
    if visitor is None:
        return to_login(request)
    if not visitor.role.may(Role.ENGINEER):
        raise forbidden("Only an engineer makes lessons.")
    limits = {"most_pictures": MOST_PICTURES, "most_frames": MOST_FRAMES, "side": SIDE}
    plain = usual_encoder().kind == "thumbnail"
    return render(request, room, visitor, "new.html", plain=plain, fewest=FEWEST, **limits)


@router.get("/accounts")
def accounts(request: Request, room: AClassroom, visitor: Visitor) -> Response:
    """One's own password and, for engineers, tokens; and for admins all accounts and tokens."""
    if visitor is None:
        return to_login(request)
    return render(
        request,
        room,
        visitor,
        "accounts.html",
        manages=visitor.role.may(Role.ADMIN),
        has_tokens=visitor.role.may(Role.ENGINEER),
        roles=[role.value for role in Role],
        longest_name=LONGEST_NAME,
        shortest_password=passwords.SHORTEST,
        longest_password=passwords.LONGEST,
    )
