"""Descriptions: what a response was, and why it has none."""

from __future__ import annotations

from fastapi import Query

from tellback.classroom.learning.exam import Effect
from tellback.classroom.learning.known import is_right
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.questions import open_questions, tells_much
from tellback.classroom.learning.verdicts import ASKED_OF_PEOPLE, JudgedBy
from tellback.classroom.store.descriptions import (
    AskedAgain,
    DescriptionResult,
    close_round,
    withdraw,
)
from tellback.classroom.store.known import KnownRound
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import RoundStatus, find_asked, find_round
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.common import LessonId, RoundNumber
from tellback.classroom.web.schemas.teaching import (
    Described,
    EffectAnswer,
    Ended,
    Ending,
    NewDescription,
    PracticeAnswer,
    Withdrawn,
)
from tellback.classroom.web.security.callers import Caller, Role
from tellback.roles import Instruction

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
    learner.definition.demand_description(body.description)
    if body.first is not None:
        learner.definition.demand_description(body.first, "first")
    asked_again = AskedAgain(body.first) if body.sure else None
    told = body.description
    given, changed = learner.describe(
        round,
        caller.account,
        told,
        anyones=_any_round(caller),
        saw_request=body.saw_request,
        asked_again=asked_again,
        wants_second=_wants_second(learner, round, caller, told),
        took_suggestion=body.took_suggestion,
        effect=effect,
    )
    counted = given._asdict() | {"matched": None if given.saw_request else given.matched}
    del counted["taught"], counted["known"]
    verdicts, by_people = learner.verdicts, learner.verdicts.by is JudgedBy.PEOPLE
    asked_of_people = by_people and given.part is None and given.known is None
    return Described(
        round=round,
        **counted,
        judged_by=verdicts.by,
        asks_judgement=asked_of_people and verdicts.priority(round) < ASKED_OF_PEOPLE,
        questions=len(open_questions(learner, caller.account)) if effect else 0,
        practice=_practice(learner, round, given, told),
        effect=None if changed is None else _effect(changed),
    )


def _practice(
    learner: Learner, round: int, given: DescriptionResult, told: Instruction
) -> PracticeAnswer | None:
    if given.known is None or not given.known.practice:
        return None
    with learner.reading() as connection:
        asked = find_asked(
            connection, learner.lesson, find_round(connection, learner.lesson, round)
        )
    right = is_right(learner, KnownRound(round, asked, None), told)
    return PracticeAnswer(right=right, answers=list(given.known.answers))


def _wants_second(learner: Learner, round: int, caller: Caller, told: int | str) -> bool:
    """Whether to have the response described by somebody else too, given what was told of it."""
    share = learner.definition.second_share
    if not 0 < share < 1:
        return False  # it was decided when the round was opened
    return bool(tells_much(learner, round, caller.account, told))


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


@router.delete("/lessons/{lesson}/rounds/{round}/description", operation_id="withdraw")
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
