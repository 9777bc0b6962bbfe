"""What an agent was told, so that some of it can be taken back."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from tellback.errors import ProtocolError
from tellback.roles import Agent, Choice, Instruction, State, Task

CHECKPOINT_EVERY = 64
"""Descriptions between two states that are kept, for agents that cannot unlearn."""

MOST_CHECKPOINTS = 16
"""Beyond this every other one is given up: memory stays bounded, and the way back grows."""


class Told(NamedTuple):
    """A description that the agent has learned."""

    t: int
    task: Task
    choice: Choice
    description: Instruction


class UndoLog:
    """What an agent was told, and states from which to learn some of it again.

    Parameters
    ----------
    agent : Agent
        Who was told.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._told: list[Told] = []
        self._every = CHECKPOINT_EVERY
        self._checkpoints: list[tuple[int, State]] = []  # after how many were told
        self._keep_checkpoint()

    def add(self, told: Told) -> None:
        """Take in what the agent has just learned."""
        self._told.append(told)
        if len(self._told) % self._every == 0:
            self._keep_checkpoint()

    def withdraw(self, t: int) -> Told | None:
        """Make the agent as if it had never been told of round ``t``; None if it was not."""
        place = next((i for i, told in enumerate(self._told) if told.t == t), None)
        if place is None:
            return None
        told = self._told[place]
        unlearn = getattr(self._agent, "withdraw", None)
        if unlearn is None or not unlearn(told.task, told.choice, told.description):
            self._go_back(place)
        else:
            del self._told[place]
            self._checkpoints = self._before(place)
        return told

    def _before(self, place: int) -> list[tuple[int, State]]:
        """The checkpoints that know nothing of what was told there, or later."""
        return [kept for kept in self._checkpoints if kept[0] <= place]

    def _go_back(self, place: int) -> None:
        """Learn again what was told since the last checkpoint before a place, but not that."""
        kept = self._before(place)
        if not kept:
            raise ProtocolError(
                f"{type(self._agent).__name__} can neither withdraw what it has learned nor go "
                "back to an earlier state: it has no state and restore."
            )
        agent: Any = self._agent
        as_it_was = agent.state(), self._told, self._checkpoints, self._every
        (count, state), told = kept[-1], self._told
        try:
            agent.restore(state)
            self._told, self._checkpoints = told[:count], kept
            for one in told[count:place] + told[place + 1 :]:
                agent.learn(one.task, one.choice, one.description)
                self.add(one)  # with new checkpoints, for the next time
            if hasattr(agent, "withdrawn"):  # an agent that can itself withdraw counts by itself
                agent.withdrawn += 1
        except BaseException:  # an interrupt, too, must not leave it half-way
            before, self._told, self._checkpoints, self._every = as_it_was
            agent.restore(before)
            raise

    def _keep_checkpoint(self) -> None:
        state = getattr(self._agent, "state", None)
        if state is None or not hasattr(self._agent, "restore"):
            return
        # An agent may go on to change the arrays that it gave.
        kept = deepcopy(dict(state()))
        self._checkpoints.append((len(self._told), kept))
        if len(self._checkpoints) > MOST_CHECKPOINTS:
            del self._checkpoints[1::2]
            self._every *= 2
