"""Previews: what the agent would do, without doing it."""

from __future__ import annotations

from tellback.classroom.learning.content import features_from, responses_from
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.sureness import verdict
from tellback.classroom.store.rounds import Drawn, find_asked, find_round
from tellback.classroom.store.tasks import find_task
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.problems import invalid
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import finite
from tellback.classroom.web.schemas.rounds import NewPreview, Option, PreviewAnswer
from tellback.responses import Listed

router = api_router("preview", 404, 422)


@router.post("/lessons/{lesson}/preview")
def preview(
    body: NewPreview, room: AClassroom, learner: ALearner, caller: AsTeacher
) -> PreviewAnswer:
    """The response that the agent would choose, how sure it is, and its second choice.

    It does not explore, and nothing is stored.
    """
    learner.definition.demand_instruction(body.instruction)
    draw, drawn = None, _drawn(room, learner, body)
    if drawn is None:
        considered = learner.consider(body.instruction, _responses(room, learner, body))
    else:
        considered, draw = learner.imagine(body.instruction, drawn.task)
    found = verdict(considered)

    def option(response: int) -> Option:
        return Option(
            response=response,
            estimate=float(considered.estimates[response]),
            bonus=finite(float(considered.bonuses[response])),
        )

    return PreviewAnswer(
        **option(found.best).model_dump(),
        second=None if found.second is None else option(found.second),
        sure=found.sure,
        answer=found.answer,
        fitting=list(found.fitting),
        says=found.says,
        learned=considered.learned,
        model_version=considered.version,
        round=body.round,
        drawing=None if draw is None else draw(found.best),
    )


def _drawn(room: Classroom, learner: Learner, body: NewPreview) -> Drawn | None:
    """The response that was drawn in the round, where responses are too many to list."""
    if body.round is None:
        return None
    if any(given is not None for given in (body.features, body.texts, body.images)):
        raise invalid("round", "Give either a round or candidates, not both.")
    with room.database.read() as connection:
        round = find_round(connection, learner.lesson, body.round)
        return find_asked(connection, learner.lesson, round).drawn


def _responses(room: Classroom, learner: Learner, body: NewPreview) -> Listed:
    if body.round is None:
        given = body.features, body.texts, body.images
        return responses_from(learner.definition, *given, keep=False)[0]
    with room.database.read() as connection:
        features = find_task(connection, learner.lesson, body.round).features
    return Listed(features_from(features, learner.definition.facts.dim))
