"""Progress of a lesson."""

from __future__ import annotations

from tellback.certificate import Calibration
from tellback.classroom.learning.agreement import alpha
from tellback.classroom.learning.heard import word_meter
from tellback.classroom.learning.held_out import FEWEST, MOST
from tellback.classroom.learning.judged import judged_share, likeness_errors
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.progress import certificate, match_rate, met_share, running
from tellback.classroom.learning.reliability import reliability
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.store.database import Connection
from tellback.classroom.store.held_out import held_out_events
from tellback.classroom.store.judgements import judged_rounds, judgements
from tellback.classroom.store.known import count_said
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.progress import curve
from tellback.classroom.store.reports import (
    Columns,
    agreement,
    checks,
    round_columns,
    teacher_counts,
)
from tellback.classroom.store.reviews import read_seconds
from tellback.classroom.store.rounds import counts_by_status
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsTeacher
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.progress import (
    CurveAnswer,
    HeldOutAnswer,
    ProgressAnswer,
    TeacherAnswer,
    UnsureAnswer,
    WordsAnswer,
)
from tellback.proof import ProofStatus, proof_status_of
from tellback.theory.shares import Share

router = api_router("progress", 404, 422)

MOST_UNSURE = 5
"""Requests of which the agent is least sure."""


@router.get("/lessons/{lesson}/progress")
def get_progress(room: AClassroom, learner: ALearner, caller: AsTeacher) -> ProgressAnswer:
    """Descriptions, success on held-out requests, the certificate, and the work of teachers."""
    # Computed once after each event, for all callers.
    reached = room.event_poller.now(learner.lesson)
    cached = room.reports.get(learner.lesson)
    if cached is None or cached[0] != reached:
        cached = room.reports[learner.lesson] = reached, _progress(room, learner)
    return cached[1]


def _progress(room: Classroom, learner: Learner) -> ProgressAnswer:
    learner.catch_up()
    with room.database.read() as connection:
        row = find_lesson(connection, learner.lesson)
        statuses = counts_by_status(connection, learner.lesson)
        success = _curve(connection, learner)
        columns = round_columns(connection, learner.lesson)
        agreed = agreement(connection, learner.lesson)
        checked = checks(connection, learner.lesson)
        matches, says = _matches(connection, learner, columns)
        seconds = read_seconds(connection, learner.lesson)
        reliable = reliability(learner, connection, seconds)
        counts = teacher_counts(connection, learner.lesson, reliable)
    proof = certificate(learner.definition, columns, learner.verdicts.by)
    unsure = learner.unsure(MOST_UNSURE)
    return ProgressAnswer(
        lesson=learner.lesson,
        name=learner.name,
        events=row.events,
        rounds=row.rounds,
        statuses=statuses,
        judged_by=learner.verdicts.by,
        matches=matches,
        certified_regret=proof.regret,
        light=proof.light.light,
        light_says=_with_caveat(proof.light, proof_status_of(learner.agent.model_agent)),
        unsure=[UnsureAnswer(request=asked, says=says) for asked, says in unsure],
        teachers=[
            TeacherAnswer(
                **{k: v for k, v in one._asdict().items() if k != "account"},
                reliability=reliable.get(one.account),
            )
            for one in counts
        ],
        agreement=running(agreed),
        alpha=alpha(learner, seconds),
        checks=running(checked),
        **dict(success) | {"match_says": says},
    )


def _matches(
    connection: Connection, learner: Learner, columns: Columns
) -> tuple[Share | None, str]:
    """The share of requests that were met, and what it rests on."""
    verdicts, match = learner.verdicts, learner.definition.match
    if verdicts.by in (JudgedBy.TRUTH, JudgedBy.RECORDING):
        return met_share(columns), verdicts.says
    if verdicts.by is not JudgedBy.PEOPLE:
        errors = match.errors if match and verdicts.by is JudgedBy.RATES else None
        return match_rate(columns, errors), verdicts.says
    judged = judgements(connection, learner.lesson)
    rounds = judged_rounds(connection, learner.lesson)
    errors = likeness_errors(learner, connection, judged)
    rates = f". Whether they sound alike, by the agent's ranking: {errors}" if errors else ""
    says = f"{verdicts.says}, {len(judged)} of {len(rounds)} so far{rates}"
    return judged_share(rounds, judged, verdicts.priority), says


IN_A_LESSON = "nobody knows whether descriptions were skipped, undone or deleted for what they said"
"""Why bounds are no proof in a lesson, even if they are one in simulations."""


def _with_caveat(light: Calibration, status: ProofStatus) -> str:
    """The reason for the light, and why the bounds are no proof."""
    if light.light == "dark":
        return light.says
    return f"{light.says}; they are no proof: {status.caveat or IN_A_LESSON}"


@router.get("/lessons/{lesson}/curve")
def get_curve(room: AClassroom, learner: ALearner, caller: AsTeacher) -> CurveAnswer:
    """The success curve, and words that nobody has said; teachers see it while they describe.

    It names no request. The words are of held-out requests, which no round asks, and are drawn
    independently of the rounds: they tell nothing about the request of a round.
    """
    learner.catch_up()
    with room.database.read() as connection:
        said = count_said(connection, learner.lesson)
        return _curve(connection, learner).model_copy(update={"described": said})


def _held_out(connection: Connection, learner: Learner) -> HeldOutAnswer | None:
    material = learner.definition.material
    if material is None:
        return None
    count = len(held_out_events(connection, learner.lesson, MOST))
    return HeldOutAnswer(descriptions=count, needed=FEWEST, share=material.held_out)


def _curve(connection: Connection, learner: Learner) -> CurveAnswer:
    meter = word_meter(learner)
    points = curve(connection, learner.lesson)
    if learner.exam.judged and points[-1:] != [now := learner.examined()[1]]:
        points.append(now)  # the stored curve may be a moment behind
    return CurveAnswer(
        described=counts_by_status(connection, learner.lesson).get("described", 0),
        taught=learner.agent.learned,
        left_out=len(learner.agent.left_out),
        curve=points,
        words=None if meter is None else WordsAnswer(**meter._asdict()),
        held_out=_held_out(connection, learner),
        match_says=learner.verdicts.says,
    )
