"""``/livez``, ``/readyz`` and ``/metrics``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from tellback.classroom.settings import is_loopback
from tellback.classroom.web.dependencies import AClassroom
from tellback.classroom.web.monitoring.metrics import Metrics
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.problems import database_unavailable
from tellback.classroom.web.security.authentication import needs
from tellback.classroom.web.security.callers import Role

router = APIRouter(tags=["health"])

FORWARDED = ("forwarded", "x-forwarded-for", "via")


class Health(BaseModel):
    """The health of the service."""

    status: str


@router.get("/livez")
async def livez() -> Health:
    """Liveness: 200 if this process answers at all. If it does not, restart it."""
    return Health(status="ok")


@router.get("/readyz", responses=problems(503))
@router.get("/healthz", responses=problems(503), include_in_schema=False)
def readyz(room: AClassroom) -> Health:
    """Readiness: 200 if the database answers, else 503. Until then, send requests elsewhere."""
    if not room.database.answers():
        raise database_unavailable()
    return Health(status="ok")


async def _may_read_metrics(request: Request) -> None:
    """Let in admins, and callers on this machine."""
    settings = request.app.state.classroom.settings
    client = request.client
    direct = client is not None and is_loopback(client.host) and not settings.secure
    if direct and not any(name in request.headers for name in FORWARDED):
        return
    await needs(Role.ADMIN)(request)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **problems(401, 403)},
)
def metrics(
    request: Request, room: AClassroom, _: Annotated[None, Depends(_may_read_metrics)]
) -> Response:
    """Metrics for Prometheus: for admins, and on this machine if there is no proxy before it."""
    found: Metrics = request.app.state.metrics
    with room.database.read() as connection:
        return Response(found.exposition(connection), media_type=CONTENT_TYPE_LATEST)
