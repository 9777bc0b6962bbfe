"""Teaching: a response to describe, what it was, and the way back."""

from __future__ import annotations

from fastapi import Query, Response

from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.learner import Effect
from tellback.classroom.store.claims import prolong_claim
from tellback.classroom.store.descriptions import close_round, withdraw
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import RoundStatus, find_round
from tellback.classroom.store.tasks import find_picture, find_task
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.problems import not_found
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.rounds import ShownRound, content_fields
from tellback.classroom.web.schemas.teaching import (
    Change,
    ClaimAnswer,
    Described,
    EffectAnswer,
    Ended,
    Ending,
    NewDescription,
    Withdrawn,
)
from tellback.classroom.web.security.callers import Caller, Role

router = api_router("teaching", 404, 422)

MOST_CHANGES = 20
"""Of the requests whose answer has changed, so many are told."""

MOST_ROWS, MOST_NUMBERS = 200, 8
"""Of features, so much is shown."""


@router.post(
    "/lessons/{lesson}/claims",
    responses={204: {"description": "There is nothing to describe just now."}},
    response_model=ClaimAnswer,
)
def claim(room: AClassroom, learner: ALearner, caller: AsTeacher) -> ClaimAnswer | Response:
    """A response to describe: nobody else gets it while the lease lasts."""
    until = room.lease_end()
    claimed = learner.claim(caller.account, until)
    if claimed is None:
        return Response(status_code=204)
    return ClaimAnswer(
        response=claimed.response,
        until=until,
        **content_fields(learner.lesson, learner.definition.facts.dim, claimed.task),
    )


@router.put("/lessons/{lesson}/rounds/{round}/claim", status_code=204, response_class=Response)
def keep_claim(
    lesson: LessonId, round: RoundNumber, room: AClassroom, caller: AsTeacher
) -> Response:
    """Keep a response for longer; refused if somebody else has it now."""
    with room.database.write() as connection:
        found = find_round(connection, lesson, round)
        if not prolong_claim(connection, lesson, found.number, caller.account, room.lease_end()):
            raise not_found(f"lease of yours on round {round}")
    return Response(status_code=204)


@router.get(
    "/lessons/{lesson}/rounds/{round}/images/{index}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
def image(
    lesson: LessonId, round: RoundNumber, index: int, room: AClassroom, caller: AsTeacher
) -> Response:
    """A picture of a round."""
    with room.database.read() as connection:
        png = find_picture(connection, lesson, round, index)
    # What a round shows never changes.
    keep = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(png, headers=keep, media_type="image/png")


@router.get("/lessons/{lesson}/rounds/{round}/shown")
def shown(round: RoundNumber, room: AClassroom, learner: ALearner, caller: AsTeacher) -> ShownRound:
    """What a round shows, without what was asked for and what the agent did."""
    with room.database.read() as connection:
        task = find_task(connection, learner.lesson, round)
    dim = learner.definition.facts.dim
    features = features_from(task.features, dim)
    bare = task.texts is None and task.images is None
    return ShownRound(
        **content_fields(learner.lesson, dim, task),
        features=features[:MOST_ROWS, :MOST_NUMBERS].tolist() if bare else None,
    )


@router.put("/lessons/{lesson}/rounds/{round}/description")
def give_description(
    round: RoundNumber,
    body: NewDescription,
    room: AClassroom,
    learner: ALearner,
    caller: AsTeacher,
    effect: bool = Query(False, description="Whether to say what it changed."),
) -> Described:
    """Say what a response was. Sent again, it is kept once; it may come late, in any order."""
    learner.definition.demand_instruction(body.description, "description")
    given, changed = learner.describe(
        round,
        caller.account,
        body.description,
        anyones=_may_all(caller),
        saw_request=body.saw_request,
        effect=effect,
    )
    return Described(
        round=round,
        event=given.seq,
        new=given.new,
        asked=given.asked,
        matched=given.matched,
        saw_request=given.saw_request,
        second=given.second,
        agrees=given.agrees,
        effect=None if changed is None else _told(changed),
    )


def _may_all(caller: Caller) -> bool:
    return caller.role.may(Role.ENGINEER)


def _told(effect: Effect) -> EffectAnswer:
    # Those that got right or wrong first: they say most.
    flips = sorted(
        effect.flips,
        key=lambda flip: flip.was_right == flip.is_right,
    )
    return EffectAnswer(
        learned=effect.learned,
        changes=[
            Change(
                request=flip.task.instruction,
                before=flip.before,
                after=flip.after,
                was_right=flip.was_right,
                is_right=flip.is_right,
            )
            for flip in flips[:MOST_CHANGES]
        ],
        right=effect.right,
        requests=effect.requests,
    )


@router.delete("/lessons/{lesson}/rounds/{round}/description")
def take_back(
    round: RoundNumber, room: AClassroom, learner: ALearner, caller: AsTeacher
) -> Withdrawn:
    """Take back what was said of a response, or that it was skipped: the agent never knew."""
    anyones = caller.role.may(Role.REVIEWER)
    with writing(room.database, learner.lesson) as log:
        done = withdraw(log, round, caller.account, room.lease_end(), anyones=anyones)
    learner.catch_up()
    return Withdrawn(round=round, withdrawn=done)


@router.put("/lessons/{lesson}/rounds/{round}/outcome")
def end(
    lesson: LessonId, round: RoundNumber, body: Ending, room: AClassroom, caller: AsTeacher
) -> Ended:
    """Close a round without a description, which stays missing: skip, cannot tell, or flag."""
    with writing(room.database, lesson) as log:
        outcome = RoundStatus(body.outcome)
        close_round(log, round, caller.account, outcome, body.note, anyones=_may_all(caller))
        found = find_round(log.connection, lesson, round)
    return Ended(round=round, status=found.status.value)
