"""The inbox of reviewers, and their decisions."""

from __future__ import annotations

from tellback.classroom.learning.inbox import read_inbox
from tellback.classroom.store.log import writing
from tellback.classroom.store.reviews import accept, correct, send
from tellback.classroom.store.rounds import find_asked, find_round
from tellback.classroom.store.seen import mark_seen
from tellback.classroom.store.tasks import find_task
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsReviewer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import RoundNumber
from tellback.classroom.web.schemas.reviews import (
    Inbox,
    InboxRound,
    NewReview,
    ReasonAnswer,
    Reviewed,
)
from tellback.classroom.web.schemas.rounds import content_fields
from tellback.errors import FieldError

router = api_router("reviews", 404, 422)

MOST_ROUNDS = 50
"""Rounds in an answer, at most."""


@router.get("/lessons/{lesson}/inbox")
def get_inbox(room: AClassroom, learner: ALearner, caller: AsReviewer) -> Inbox:
    """Rounds that should be reviewed: doubtful, disagreeing or flagged, with the reasons."""
    found = read_inbox(learner)
    dim = learner.definition.facts.dim
    shown = []
    with room.database.read() as connection:
        for one in found[:MOST_ROUNDS]:
            row = find_round(connection, learner.lesson, one.round)
            task = find_task(connection, learner.lesson, one.round)
            choice = find_asked(connection, learner.lesson, row).choice
            shown.append(
                InboxRound(
                    response=choice.response if task.drawing is None else 0,
                    teacher=one.teacher,
                    description=one.description,
                    reasons=[ReasonAnswer(kind=why.kind, says=why.says) for why in one.reasons],
                    **content_fields(learner.lesson, dim, task),
                )
            )
    # Who has read what was said of a round is no independent second teacher of it.
    mark_seen(room.database, learner.lesson, caller.account, [one.round for one in shown])
    return Inbox(rounds=shown, more=len(found) - len(shown))


@router.put("/lessons/{lesson}/rounds/{round}/review")
def review(
    round: RoundNumber, body: NewReview, room: AClassroom, learner: ALearner, caller: AsReviewer
) -> Reviewed:
    """Accept a round as it is, correct its description, or send it to another teacher."""
    if (body.outcome == "corrected") != (body.description is not None):
        raise FieldError("description", "description must be there if the outcome is corrected.")
    if body.description is not None:
        learner.definition.demand_description(body.description)
    with writing(room.database, learner.lesson) as log:
        if body.description is not None:
            correct(log, round, caller.account, body.description)
        elif body.outcome == "accepted":
            accept(log, round, caller.account)
        else:
            send(log, round, caller.account)
        status = find_round(log.connection, learner.lesson, round).status.value
    learner.catch_up()
    return Reviewed(round=round, status=status)
