"""An agent that plays as usual while its estimates and bonuses are recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.responses import Listed
from tellback.roles import Agent, Choice, Instruction, Task


def listed(task: Task, choice: Choice) -> Task:
    """The task with the responses that were chosen among: those of a shortlist, if there is one."""
    shortlist = choice.shortlist
    return task if shortlist is None else task._replace(responses=shortlist)


class InstrumentedAgent:
    """Wraps an agent and records its estimates before it learns.

    Only methods that change nothing are called: a model's estimates and an explorer's
    bonuses. For an agent without them, nothing is recorded.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.estimates: Array | None = None  # of all responses, after the agent has responded
        self.bonuses: Array | None = None
        self.predicted = float("nan")  # for the latest description, just before it was learned
        self._estimates: Any = getattr(getattr(agent, "model", None), "estimates", None)
        self._bonuses: Any = getattr(getattr(agent, "explorer", None), "bonuses", None)

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The agent's choice."""
        # The agent goes first, so that it fills its own caches as in the original run.
        choice = self.agent.respond(task, rng)
        task = listed(task, choice)
        self.estimates = self._estimates_for(task)
        self.bonuses = None
        if self._bonuses is not None and isinstance(task.responses, Listed):
            bonuses = np.array(self._bonuses(task.responses), dtype=np.float64)
            self.bonuses = bonuses if np.isfinite(bonuses).all() else None
        self.predicted = float("nan")
        return choice

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Record the estimate for the description, then have the agent learn."""
        estimates = self._estimates_for(listed(task, choice)._replace(instruction=description))
        if estimates is not None:
            self.predicted = float(estimates[choice.place])
        self.agent.learn(task, choice, description)

    def learn_silence(self, task: Task, choice: Choice) -> None:
        """Have the agent learn from silence, if it does."""
        learn_silence = getattr(self.agent, "learn_silence", None)
        if learn_silence is not None:
            learn_silence(task, choice)

    def _estimates_for(self, task: Task) -> Array | None:
        """The estimates of all responses, or None where there are none."""
        if self._estimates is None or not isinstance(task.responses, Listed):
            return None
        estimates = np.array(self._estimates(task.instruction, task.responses), dtype=np.float64)
        return estimates if np.isfinite(estimates).all() else None
