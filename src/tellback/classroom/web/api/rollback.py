"""Rollback to an earlier event."""

from __future__ import annotations

from tellback.classroom.store.log import writing
from tellback.classroom.store.rollback import roll_back
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.log import RollbackTarget, RolledBack

router = api_router("log", 404, 422)


@router.post("/lessons/{lesson}/rollback")
def roll_back_to(
    body: RollbackTarget, room: AClassroom, learner: ALearner, caller: AsEngineer
) -> RolledBack:
    """Restore the state after an event; the agent forgets all later descriptions.

    The log forgets nothing: a rollback is an event too, and can be rolled back.
    """
    with writing(room.database, learner.lesson) as log:
        active = roll_back(log, body.to, caller.account)
    learner.catch_up()
    return RolledBack(event=log.latest, descriptions=active)
