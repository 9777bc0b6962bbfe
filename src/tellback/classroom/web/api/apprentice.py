"""Apprentice mode: whether the agent should act by now."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from tellback.classroom.learning.apprentice import judged_by_people, report
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.store.acted import acted_rounds
from tellback.classroom.store.judgements import judgements
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.apprentice import ApprenticeAnswer, ApprenticeQuery

router = api_router("progress", 404, 422)


@router.get("/lessons/{lesson}/apprentice")
def get_apprentice(
    room: AClassroom,
    learner: ALearner,
    caller: AsTeacher,
    wanted: Annotated[ApprenticeQuery, Query()],
) -> ApprenticeAnswer:
    """The agent's advice beside what another policy did, and whether to switch."""
    verdicts = learner.verdicts
    with room.database.read() as connection:
        rounds = acted_rounds(connection, learner.lesson, wanted.after)
        if rounds and verdicts.by is JudgedBy.PEOPLE:
            judged = judgements(connection, learner.lesson)
            rounds = judged_by_people(rounds, judged, verdicts.priority)
    found = report(rounds, wanted.margin)
    return ApprenticeAnswer(**found._asdict(), match_says=verdicts.says)
