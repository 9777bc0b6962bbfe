"""Suggestions: a program proposes a description, and a teacher accepts or edits it."""

from __future__ import annotations

from tellback.classroom.store.log import writing
from tellback.classroom.store.suggestions import suggest as keep_suggestion
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import RoundNumber
from tellback.classroom.web.schemas.suggestions import NewSuggestion, SuggestionAnswer

router = api_router("teaching", 404, 422)


@router.put("/lessons/{lesson}/rounds/{round}/suggestion")
def suggest(
    round: RoundNumber,
    body: NewSuggestion,
    room: AClassroom,
    learner: ALearner,
    caller: AsEngineer,
) -> SuggestionAnswer:
    """Suggest a description to the teacher of an open round, before anybody claims it.

    What the teacher then says teaches, but counts neither as a match nor as none.
    """
    learner.definition.demand_description(body.description)
    with writing(room.database, learner.lesson) as log:
        event, new = keep_suggestion(log, round, caller.account, body.description, body.by)
    return SuggestionAnswer(round=round, event=event, new=new)
