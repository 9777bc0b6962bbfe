"""Rollback to an earlier event."""

from __future__ import annotations

from fastapi import APIRouter

from tellback.classroom.store.log import writing
from tellback.classroom.store.rollback import roll_back
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer
from tellback.classroom.web.problem_handlers import problems
from tellback.classroom.web.schemas.log import RollbackTarget, RolledBack
from tellback.classroom.web.strict_json import StrictRoute

router = APIRouter(
    route_class=StrictRoute, tags=["log"], responses=problems(401, 403, 404, 409, 422)
)


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
