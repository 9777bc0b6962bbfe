"""Hooks: where word of new descriptions is sent."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import writing
from tellback.classroom.store.webhooks import (
    create_webhook,
    delete_webhook,
    delivery_status,
    list_webhooks,
)
from tellback.classroom.web.api.access import AClassroom, AsEngineer
from tellback.classroom.web.bodies import LessonId
from tellback.classroom.web.hook_addresses import checked_url
from tellback.classroom.web.log_bodies import HookAnswer, HookId, Hooks, NewHook, NewHookAnswer
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.strict_json import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["hooks"], responses=refusals(401, 403, 404, 422))


@router.post("/lessons/{lesson}/hooks", status_code=201, responses=refusals(409))
def add_hook(
    lesson: LessonId, body: NewHook, room: AClassroom, caller: AsEngineer
) -> NewHookAnswer:
    """Have word of each description sent somewhere, from now on, at least once, and signed."""
    url = checked_url(body.url, room.settings.private_hooks)
    with writing(room.database, lesson) as log:
        hook = create_webhook(log, url)
    return NewHookAnswer(id=hook.id, url=hook.url, secret=hook.secret)


@router.get("/lessons/{lesson}/hooks")
def list_hooks(lesson: LessonId, room: AClassroom, caller: AsEngineer) -> Hooks:
    """The hooks of a lesson, and how their deliveries go."""
    with room.database.read() as connection:
        find_lesson(connection, lesson)
        found = [
            HookAnswer(
                id=hook.id,
                url=hook.url,
                created=hook.created,
                **delivery_status(connection, hook.id)._asdict(),
            )
            for hook in list_webhooks(connection, lesson)
        ]
    return Hooks(hooks=found)


@router.delete("/lessons/{lesson}/hooks/{hook}", status_code=204, response_class=Response)
def end_hook(lesson: LessonId, hook: HookId, room: AClassroom, caller: AsEngineer) -> Response:
    """End a hook; what waits for it is not sent."""
    with writing(room.database, lesson) as log:
        delete_webhook(log, hook)
    return Response(status_code=204)
