"""Replay: another agent is taught the descriptions of a lesson."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from tellback.agents.agent import ModelAgent
from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.active import ActiveDescription, count_active, read_active
from tellback.classroom.store.database import Connection
from tellback.classroom.store.tasks import find_task
from tellback.errors import FieldError, TellbackError
from tellback.off_policy import AgentPolicy, Log, ValueEstimate, doubly_robust, self_normalised
from tellback.off_policy.kinds import EXACT
from tellback.off_policy.log_file import LogEntry
from tellback.responses import Listed
from tellback.roles import Task
from tellback.theory.shares import Share, share_of
from tellback.ties import maxima

MOST_DESCRIPTIONS = 20_000
MOST_JUDGED = 2_000
"""An agent is judged by at most so many rounds, the latest."""

MOST_SECONDS = 60.0
DRAWS = 100
"""How often an agent is asked in each round, if it states no exact propensities."""

OFFLINE = "export the lesson (GET .../export) and replay it where there is time"


class Judged(NamedTuple):
    """Off-policy estimates of an agent's match rate, or the reason why there are none."""

    estimate: ValueEstimate | None
    doubly_robust: ValueEstimate | None
    says: str


class Replayed(NamedTuple):
    """The result of a replay."""

    agent: LessonAgent
    descriptions: int
    same_choice: Share | None
    judged: Judged


def replay(
    connection: Connection, lesson: str, definition: Definition, propensities: str
) -> Replayed:
    """Teach a new agent the active descriptions, in order, and compare.

    ``definition`` is the lesson's, with the agent to be tried. ``propensities`` says how those of
    the agent that played are known.

    An agent must not be judged by rounds that it learned from. The estimates are of an agent that
    was taught the first half of the descriptions, and is judged by the second half.
    """
    count = count_active(connection, lesson)
    if count > MOST_DESCRIPTIONS:
        raise FieldError(
            "lesson", f"A replay is of at most {MOST_DESCRIPTIONS:,} descriptions: {OFFLINE}."
        )
    end = time.monotonic() + MOST_SECONDS
    agent = LessonAgent(definition)
    descriptions = read_active(connection, lesson)
    _teach(agent, islice(descriptions, count // 2), end)
    log = _log(connection, lesson, definition, agent.latest, count - count // 2, propensities)
    judged = _judged(log, agent.model_agent)
    _demand_time(end)
    _teach(agent, descriptions, end)
    return Replayed(agent, agent.learned, _same_choice(log, agent.model_agent), judged)


def _demand_time(end: float) -> None:
    if time.monotonic() > end:
        raise FieldError("agent", f"agent takes over {MOST_SECONDS:.0f} s to teach: {OFFLINE}.")


def _teach(agent: LessonAgent, descriptions: Iterable[ActiveDescription], end: float) -> None:
    for one in descriptions:
        agent.add(one)
        _demand_time(end)


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
    entries = []
    for one in islice(read_active(connection, lesson, after), skipped, None):
        features = find_task(connection, lesson, one.round).features
        listed = Listed(features_from(features, definition.facts.dim))
        stated = one.choice.propensity
        entries.append(
            LogEntry(
                task=Task(None, one.instruction, listed),
                response=one.choice.response,
                propensity=math.nan if stated is None else stated,
                description=one.description,
                match=math.nan if one.matched is None else float(one.matched),
                teacher_saw_request=one.saw_request,
            )
        )
    return Log.from_entries(entries, known)


def _judged(log: Log, agent: ModelAgent) -> Judged:
    draws = None if agent.propensities == EXACT else DRAWS
    try:
        estimate = self_normalised(log, AgentPolicy(agent, draws))
        robust = doubly_robust(log, AgentPolicy(agent, draws), agent.model)
    except TellbackError as error:
        return Judged(None, None, str(error))
    says = (
        "The agent was taught the first half of the descriptions, and is judged by the second: "
        "the mean share of descriptions that would have matched the request."
    )
    return Judged(estimate, robust, says)


def _same_choice(log: Log, agent: ModelAgent) -> Share | None:
    """In how many rounds its best response is, or ties with, the one that was chosen."""
    if not len(log):
        return None
    same = []
    for task, response in zip(log.tasks, log.responses, strict=True):
        estimates = agent.model.estimates(task.instruction, task.responses)
        same.append(response in maxima(estimates, random=True))
    return share_of(np.array(same))
