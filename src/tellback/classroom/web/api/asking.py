"""Asking: what the agent would do, without doing it."""

from __future__ import annotations

from fastapi import APIRouter

from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.sureness import verdict
from tellback.classroom.store.rounds import find_task
from tellback.classroom.web.api.access import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.api.rounds import candidates_of, demand_instruction, number
from tellback.classroom.web.bodies import Asking, Option, Thought
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.problem_responses import refusals
from tellback.classroom.web.problems import unfit
from tellback.classroom.web.strict_json import StrictRoute
from tellback.responses import Listed

router = APIRouter(route_class=StrictRoute, tags=["asking"], responses=refusals(401, 403, 404, 422))


@router.post("/lessons/{lesson}/ask")
def think(body: Asking, room: AClassroom, learner: ALearner, caller: AsTeacher) -> Thought:
    """What the agent would do with a request, how sure it is, and what comes second."""
    demand_instruction(learner, body.instruction)
    considered = learner.consider(body.instruction, _responses(room, learner, body))
    found = verdict(considered)

    def option(response: int) -> Option:
        return Option(
            response=response,
            estimate=float(considered.estimates[response]),
            bonus=number(float(considered.bonuses[response])),
        )

    return Thought(
        **option(found.best).model_dump(),
        second=None if found.second is None else option(found.second),
        sure=found.sure,
        says=found.says,
        learned=considered.learned,
        model_version=considered.version,
        round=body.round,
    )


def _responses(room: Classroom, learner: Learner, body: Asking) -> Listed:
    if body.round is None:
        return candidates_of(learner, body)[0]
    if body.features or body.texts or body.images:
        raise unfit("round", "round names the responses: give no others.")
    with room.database.read() as connection:
        features, _ = find_task(connection, learner.lesson, body.round)
    return Listed(features_from(features, learner.definition.facts.dim))
