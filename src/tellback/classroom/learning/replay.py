"""Another agent, taught what the agent of a lesson was taught."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from tellback.agents.agent import ModelAgent
from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.lesson_agent import LessonAgent, Taught, active_reader
from tellback.classroom.store.rounds import ACTIVE, find_task
from tellback.classroom.store.tables import rounds
from tellback.errors import FieldError, TellbackError
from tellback.off_policy import AgentPolicy, Estimate, Log, doubly_robust, self_normalised
from tellback.off_policy.kinds import EXACTLY
from tellback.responses import Listed
from tellback.roles import Task
from tellback.theory.shares import Share, share_of

MOST_DESCRIPTIONS = 20_000
MOST_JUDGED = 2_000
"""Of the rounds that an agent is judged by, the latest so many."""

MOST_SECONDS = 60.0
DRAWS = 100
"""How often an agent is asked in each round, if it states no exact propensities."""

OFFLINE = "take the lesson out (GET .../export) and replay it where there is time"


class Judged(NamedTuple):
    """What the log says an agent would have been worth, or why it does not say."""

    estimate: Estimate | None
    doubly_robust: Estimate | None
    says: str


class Replayed(NamedTuple):
    """What another agent makes of a lesson."""

    agent: ModelAgent
    descriptions: int
    same_choice: Share | None
    judged: Judged


def replay(
    connection: Connection, lesson: str, definition: Definition, propensities: str
) -> Replayed:
    """Teach a new agent the active descriptions, in order, and compare.

    Parameters
    ----------
    connection : Connection
        Where the log is.
    lesson : str
        The lesson's id.
    definition : Definition
        The lesson's, with the agent that is to be tried.
    propensities : str
        How the propensities of the agent that played are known.

    Notes
    -----
    An agent must not be judged by rounds that it learned from. The one that the estimates are of
    was taught the first half of the descriptions, and is judged by the second.
    """
    count = _count_active(connection, lesson)
    if count > MOST_DESCRIPTIONS:
        raise FieldError(
            "lesson", f"A replay is of at most {MOST_DESCRIPTIONS:,} descriptions: {OFFLINE}."
        )
    in_time = _deadline()
    agent = LessonAgent(definition)
    descriptions = iter(active_reader(connection, lesson)(0))
    _teach(agent, islice(descriptions, count // 2), in_time)
    log = _log(connection, lesson, definition, agent.latest, count - count // 2, propensities)
    judged = _judged(log, agent.model_agent)
    in_time()
    _teach(agent, descriptions, in_time)
    return Replayed(agent.model_agent, agent.learned, _same_choice(log, agent.model_agent), judged)


def _deadline() -> Callable[[], None]:
    end = time.monotonic() + MOST_SECONDS

    def in_time() -> None:
        if time.monotonic() > end:
            raise FieldError("agent", f"agent takes over {MOST_SECONDS:.0f} s to teach: {OFFLINE}.")

    return in_time


def _count_active(connection: Connection, lesson: str) -> int:
    query = select(func.count()).where(rounds.c.lesson == lesson, rounds.c.described.is_not(None))
    found: int = connection.execute(query).scalar_one()
    return found


def _teach(agent: LessonAgent, descriptions: Iterable[Taught], in_time: Callable[[], None]) -> None:
    for taught in descriptions:
        agent.add(taught)
        in_time()


def _log(
    connection: Connection,
    lesson: str,
    definition: Definition,
    after: int,
    count: int,
    known: str,
) -> Log:
    """The latest rounds among those described after an event."""
    skipped = max(0, count - MOST_JUDGED)
    which = {"lesson": lesson, "after": after}
    rows = list(connection.execute(ACTIVE.offset(skipped), which))
    tasks, responses, propensities, told = [], [], [], []
    for row in rows:
        asked, described = json.loads(row.asked_data), json.loads(row.described_data)
        features, _ = find_task(connection, lesson, row.number)
        listed = Listed(features_from(features, definition.facts.dim))
        stated = asked["propensity"]
        tasks.append(Task(None, asked["instruction"], listed))
        responses.append(asked["response"])
        propensities.append(np.nan if stated is None else stated)
        told.append(described)
    return Log(
        tuple(tasks),
        np.array(responses, dtype=np.int64),
        np.array(propensities, dtype=np.float64),
        tuple(one["description"] for one in told),
        np.array([float(one["matched"]) for one in told]),
        np.array([one["saw_request"] for one in told], dtype=np.bool_),
        known,
    )


def _judged(log: Log, agent: ModelAgent) -> Judged:
    draws = None if agent.propensities in EXACTLY else DRAWS
    try:
        estimate = self_normalised(log, AgentPolicy(agent, draws))
        robust = doubly_robust(log, AgentPolicy(agent, draws), agent.model)
    except TellbackError as error:
        return Judged(None, None, str(error))
    says = (
        "The agent was taught the first half of the descriptions, and is judged by the second: "
        "the mean share of descriptions that would have been what was asked for."
    )
    return Judged(estimate, robust, says)


def _same_choice(log: Log, agent: ModelAgent) -> Share | None:
    """In how many rounds it thinks best, among others perhaps, what was done."""
    if not len(log):
        return None
    same = []
    for task, response in zip(log.tasks, log.responses, strict=True):
        estimates = agent.model.estimates(task.instruction, task.responses)
        same.append(int(np.argmax(estimates)) == int(response))
    return share_of(np.array(same))
