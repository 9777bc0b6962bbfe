"""Teaching: a response to describe, what it was, and the way back."""

from __future__ import annotations

import base64

from fastapi import Query, Response

from tellback.classroom.learning.content import Content, features_from
from tellback.classroom.learning.learner import Effect, Learner
from tellback.classroom.store.claims import claim_round, prolong_claim
from tellback.classroom.store.descriptions import DescriptionResult, close_round, describe, withdraw
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import RoundRow, RoundStatus, find_asked, find_round, find_task
from tellback.classroom.web.classroom import Classroom
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
    account, until = room.claim_for(caller.account)
    with room.database.write() as connection:
        claimed = claim_round(connection, learner.lesson, account, until)
    if claimed is None and learner.has_world:
        opened = learner.ask_from_world(account, (account, until))
        with room.database.read() as connection:
            claimed = find_round(connection, learner.lesson, opened.number)
    if claimed is None:
        return Response(status_code=204)
    return _shown(room, learner, claimed, until)


@router.put("/lessons/{lesson}/rounds/{round}/claim", status_code=204, response_class=Response)
def keep_claim(
    lesson: LessonId, round: RoundNumber, room: AClassroom, caller: AsTeacher
) -> Response:
    """Keep a response for longer; refused if somebody else has it now."""
    account, until = room.claim_for(caller.account)
    with room.database.write() as connection:
        found = find_round(connection, lesson, round)
        if not prolong_claim(connection, lesson, found.number, account, until):
            raise not_found(f"lease of yours on round {round}")
    return Response(status_code=204)


def _shown(room: Classroom, learner: Learner, claimed: RoundRow, until: float) -> ClaimAnswer:
    """What a teacher is shown: never what was asked for."""
    with room.database.read() as connection:
        features, packed = find_task(connection, learner.lesson, claimed.number)
        response = find_asked(connection, learner.lesson, claimed).choice.response
    content = Content.unpacked(packed)
    return ClaimAnswer(
        response=response,
        candidates=len(features) // (8 * learner.definition.facts.dim),
        until=until,
        **content_fields(learner.lesson, claimed.number, content),
    )


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
        _, packed = find_task(connection, lesson, round)
    pictures = Content.unpacked(packed).images or []
    if not 0 <= index < len(pictures):
        raise not_found(f"picture {index} in round {round}")
    # What a round shows never changes.
    keep = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(base64.b64decode(pictures[index]), headers=keep, media_type="image/png")


@router.get("/lessons/{lesson}/rounds/{round}/shown")
def shown(round: RoundNumber, room: AClassroom, learner: ALearner, caller: AsTeacher) -> ShownRound:
    """What a round shows, without what was asked for and what the agent did."""
    with room.database.read() as connection:
        packed_features, packed = find_task(connection, learner.lesson, round)
    content = Content.unpacked(packed)
    features = features_from(packed_features, learner.definition.facts.dim)
    bare = content.texts is None and content.images is None
    return ShownRound(
        candidates=len(features),
        **content_fields(learner.lesson, round, content),
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
    match = learner.definition.match
    assert match is not None

    def keep() -> DescriptionResult:
        with writing(room.database, learner.lesson) as log:
            return describe(
                log,
                round,
                caller.account,
                body.description,
                match,
                anyones=_may_all(caller),
                saw_request=body.saw_request,
            )

    changed = None
    if effect:
        given, noticed = learner.effect_of(keep)
        changed = _told(noticed)
    else:
        given = keep()
        learner.catch_up()
    return Described(
        round=round,
        event=given.seq,
        new=given.new,
        asked=given.asked,
        matched=given.matched,
        saw_request=given.saw_request,
        second=given.second,
        agrees=given.agrees,
        effect=changed,
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
    _, until = room.claim_for(caller.account)
    anyones = caller.role.may(Role.REVIEWER)
    with writing(room.database, learner.lesson) as log:
        done = withdraw(log, round, caller.account, until, anyones=anyones)
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
