"""Descriptions: what a response was, and why it has none."""

from __future__ import annotations

from fastapi import Query

from tellback.classroom.learning.exam import Effect
from tellback.classroom.learning.judged import sounds_alike
from tellback.classroom.learning.verdicts import ASKED_OF_PEOPLE, JudgedBy
from tellback.classroom.store.descriptions import close_round, withdraw
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import RoundStatus, find_round
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.teaching import (
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
"""The most changed answers in the effect of a description."""


@router.put("/lessons/{lesson}/rounds/{round}/description")
def describe(
    round: RoundNumber,
    body: NewDescription,
    room: AClassroom,
    learner: ALearner,
    caller: AsTeacher,
    effect: bool = Query(False, description="Whether to tell its effect on the agent."),
) -> Described:
    """Describe a response. Sent again, it counts once; it may come late, in any order."""
    learner.definition.demand_instruction(body.description, "description")
    given, changed = learner.describe(
        round,
        caller.account,
        body.description,
        anyones=_any_round(caller),
        saw_request=body.saw_request,
        effect=effect,
    )
    counted = given._asdict() | {"matched": None if given.saw_request else given.matched}
    verdicts, by_people = learner.verdicts, learner.verdicts.by is JudgedBy.PEOPLE
    alike = None
    if by_people and effect:
        with room.database.read() as connection:
            alike = sounds_alike(learner, connection, round, body.description)
    return Described(
        round=round,
        **counted,
        judged_by=verdicts.by,
        sounds_alike=alike,
        asks_judgement=by_people and verdicts.priority(round) < ASKED_OF_PEOPLE,
        effect=None if changed is None else _effect(changed),
    )


def _any_round(caller: Caller) -> bool:
    return caller.role.may(Role.ENGINEER)


def _effect(effect: Effect) -> EffectAnswer:
    # Answers that became right or wrong come first.
    flips = sorted(effect.changes, key=lambda flip: flip.was_right == flip.is_right)
    known = effect.right is not None
    return EffectAnswer(
        **effect._replace(changes=flips[:MOST_CHANGES])._asdict(),
        gained=sum(bool(one.is_right and not one.was_right) for one in flips) if known else None,
        lost=sum(bool(one.was_right and not one.is_right) for one in flips) if known else None,
    )


@router.delete("/lessons/{lesson}/rounds/{round}/description")
def withdraw_description(
    round: RoundNumber, room: AClassroom, learner: ALearner, caller: AsTeacher
) -> Withdrawn:
    """Withdraw a description, or an outcome: the agent unlearns it, and the round is open again."""
    anyones = caller.role.may(Role.REVIEWER)
    with writing(room.database, learner.lesson) as log:
        done = withdraw(log, round, caller.account, room.lease_end(), anyones=anyones)
    learner.catch_up()
    return Withdrawn(round=round, withdrawn=done)


@router.put("/lessons/{lesson}/rounds/{round}/outcome")
def close(
    lesson: LessonId, round: RoundNumber, body: Ending, room: AClassroom, caller: AsTeacher
) -> Ended:
    """Close a round without a description: skipped, cannot tell, or flagged."""
    with writing(room.database, lesson) as log:
        outcome = RoundStatus(body.outcome)
        close_round(log, round, caller.account, outcome, body.note, anyones=_any_round(caller))
        found = find_round(log.connection, lesson, round)
    return Ended(round=round, status=found.status.value)
