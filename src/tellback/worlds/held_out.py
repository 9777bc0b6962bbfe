"""Exams on held-out tasks: how well an agent does what it is asked, without learning from it.

The tasks are drawn from the world with streams of their own, so no run has met them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tellback.errors import SettingError, whole
from tellback.ledger import ask_agent
from tellback.protocol import play
from tellback.roles import Agent, AgentSpec, Simulation, WorldSpec
from tellback.streams import Streams

TASKS = 300
"""The number of tasks of an exam."""


class Exam(NamedTuple):
    """How an agent did in an exam.

    Attributes
    ----------
    success : float
        The share of tasks with a success: a reward above 0, as the teacher could then say the
        request of the response. A truth with a method ``succeeds(task, response)`` decides itself.
    of_best : float
        The mean reward over the mean of the best possible rewards.
    possible : float
        The share of tasks where some candidate was a success; NaN if responses are listed.
    tasks : int
        The number of tasks.
    described : int
        The number of rounds played before the exam.
    """

    success: float
    of_best: float
    possible: float
    tasks: int
    described: int = 0


def examine(
    world: WorldSpec | Simulation, agent: Agent, tasks: int = TASKS, *, seed: int = 0
) -> Exam:
    """Let an agent respond to tasks that it has not met. It learns nothing.

    Parameters
    ----------
    world : WorldSpec or Simulation
        Where the tasks are drawn. It must have a truth, and must not read past rounds.
    agent : Agent
        A live agent.
    tasks : int
        The number of tasks.
    seed : int
        The seed of the tasks, and of the agent's draws.
    """
    tasks, streams = whole("tasks", tasks), Streams(seed)
    built = world.build(streams.init("world")) if isinstance(world, WorldSpec) else world
    truth: Any = built.truth
    if truth is None:
        raise SettingError("An exam needs a world with a truth.")
    of_world, of_agent = streams.stream("held-out world"), streams.stream("held-out agent")
    succeeds = getattr(truth, "succeeds", lambda task, response: truth.reward(task, response) > 0)
    rewards, bests = np.zeros(tasks), np.zeros(tasks)
    right, possible = np.zeros(tasks), np.full(tasks, np.nan)
    for t in range(1, tasks + 1):
        task = built.world.task(t, (), of_world.at(t))
        _, choice = ask_agent(agent, of_agent, t, task)
        rewards[t - 1], bests[t - 1] = truth.reward(task, choice.response), truth.best(task)
        right[t - 1] = succeeds(task, choice.response)
        if choice.shortlist is not None:
            possible[t - 1] = any(succeeds(task, one) for one in choice.shortlist.responses)
    total = bests.sum()
    of_best = float(rewards.sum() / total) if total > 0 else float("nan")
    return Exam(float(right.mean()), of_best, float(possible.mean()), tasks)


def learning_curve(
    world: WorldSpec, agent: AgentSpec, at: Iterable[int], tasks: int = TASKS, *, seed: int = 0
) -> Iterator[Exam]:
    """Teach an agent in a world, and examine it after so many rounds.

    Parameters
    ----------
    world : WorldSpec
        Where it is taught and examined. It must not read past rounds.
    agent : AgentSpec
        The agent, which begins without knowledge.
    at : iterable of int
        The numbers of rounds after which there is an exam, in growing order; 0 is before all.
    tasks : int
        The number of tasks of each exam, the same each time.
    seed : int
        The seed of the run and of the exams.
    """
    live = agent.build(world.facts, Streams(seed).init("agent"))
    played = 0
    for rounds in at:
        if rounds > played:
            play(world, live, rounds - played, seed=seed, start=played)
            played = rounds
        yield examine(world, live, tasks, seed=seed)._replace(described=played)
