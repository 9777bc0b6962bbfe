"""Webhooks of a lesson."""

from __future__ import annotations

from fastapi import Response

from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import writing
from tellback.classroom.store.webhooks import (
    Webhook,
    create_webhook,
    delete_webhook,
    delivery_state,
    webhooks_of,
)
from tellback.classroom.web.dependencies import AClassroom, AsEngineer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId
from tellback.classroom.web.schemas.webhooks import (
    NewWebhook,
    NewWebhookAnswer,
    WebhookAnswer,
    WebhookId,
    Webhooks,
)
from tellback.classroom.web.webhooks.addresses import checked_url

router = api_router("webhooks", 404, 422, prefix="/lessons/{lesson}/webhooks")


@router.post("", status_code=201, response_model=NewWebhookAnswer)
def add_webhook(
    lesson: LessonId, body: NewWebhook, room: AClassroom, caller: AsEngineer
) -> Webhook:
    """Have each description posted somewhere, from now on, at least once, and signed."""
    url = checked_url(body.url, room.settings.private_webhooks)
    with writing(room.database, lesson) as log:
        return create_webhook(log, url)


@router.get("")
def list_webhooks(lesson: LessonId, room: AClassroom, caller: AsEngineer) -> Webhooks:
    """The webhooks of a lesson, and the state of their deliveries."""
    with room.database.read() as connection:
        find_lesson(connection, lesson)
        found = [
            WebhookAnswer(**one._asdict(), **delivery_state(connection, one.id)._asdict())
            for one in webhooks_of(connection, lesson)
        ]
    return Webhooks(webhooks=found)


@router.delete("/{webhook}", status_code=204, response_class=Response)
def remove_webhook(
    lesson: LessonId, webhook: WebhookId, room: AClassroom, caller: AsEngineer
) -> Response:
    """Delete a webhook and its waiting deliveries."""
    with writing(room.database, lesson) as log:
        delete_webhook(log, webhook)
    return Response(status_code=204)
