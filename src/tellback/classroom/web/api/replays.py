"""Replays: another agent is taught the same descriptions."""

from __future__ import annotations

from dataclasses import asdict

from tellback.agents.proposing import Proposing
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.replay import Replayed, replay
from tellback.classroom.turns import Turns
from tellback.classroom.web.dependencies import AClassroom, ALearner, AsEngineer
from tellback.classroom.web.routing import api_router
from tellback.classroom.web.schemas.replays import (
    EstimateAnswer,
    NewReplay,
    ReplayAnswer,
    SuccessAnswer,
)
from tellback.errors import FieldError
from tellback.off_policy import ValueEstimate
from tellback.specs import Data

router = api_router("log", 404, 422)

REPLAYING = Turns("Another replay is running: try again when it is done.", wait=0)
"""A replay keeps a processor busy: several at once would slow down all teachers."""


@router.post("/lessons/{lesson}/replay", operation_id="replay")
def replay_lesson(
    body: NewReplay, room: AClassroom, learner: ALearner, caller: AsEngineer
) -> ReplayAnswer:
    """Teach another agent all active descriptions, in the same order, and evaluate it.

    Nothing changes in the lesson. Of long lessons the latest rounds are compared.
    """
    definition = _tried(learner.definition, body.agent)
    definition.try_out()
    if learner.draws and not isinstance(definition.agent, Proposing):
        raise FieldError(
            "agent",
            "agent must draw candidates, as the responses of this lesson are too many to list: "
            'give {"kind": "proposing", "agent": ...}.',
        )
    with REPLAYING, room.database.read() as connection:
        propensities = learner.agent.model_agent.propensities
        replayed = replay(connection, learner.lesson, definition, propensities)
    learner.catch_up()
    return _answer(learner, definition, replayed)


def _tried(definition: Definition, agent: Data | None) -> Definition:
    """The definition with another agent, which has the lesson's model unless it names its own."""
    data = definition.to_data()
    if agent is not None:
        own = data["agent"].get("model")  # an agent that draws candidates has none of its own
        data["agent"] = agent if own is None else {"model": own, **agent}
    return Definition.from_data(data)


def _answer(learner: Learner, definition: Definition, replayed: Replayed) -> ReplayAnswer:
    assert definition.agent is not None
    own = now = None
    if learner.exam.judged:
        right = learner.exam.right(learner.exam.answers(replayed.agent)) or []
        own = SuccessAnswer(right=sum(right), requests=len(right))
        _, point = learner.examined()
        now = SuccessAnswer(right=point.right, requests=point.requests)
    return ReplayAnswer(
        agent=definition.agent.to_data(),
        descriptions=replayed.descriptions,
        same_choice=replayed.same_choice,
        success=own,
        success_now=now,
        estimate=_estimate(replayed.judged.estimate),
        doubly_robust=_estimate(replayed.judged.doubly_robust),
        estimate_says=replayed.judged.says,
    )


def _estimate(estimate: ValueEstimate | None) -> EstimateAnswer | None:
    return None if estimate is None else EstimateAnswer(**asdict(estimate))
