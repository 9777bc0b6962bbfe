"""The ledger: who was asked what, and which descriptions are still to come.

The one way to an agent. A simulation drives it, and so does a service in which people
teach: descriptions may come late, out of order, twice, or never.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.errors import ProtocolError
from tellback.read_only import PLAIN, read_only
from tellback.roles import Agent, Choice, Instruction, Task, plain_response
from tellback.streams import Stream
from tellback.undo_log import Told, UndoLog


class Ledger:
    """Asks an agent, remembers what is open, and passes on descriptions once each.

    Parameters
    ----------
    agent : Agent
        The agent that is asked and taught.
    stream : Stream
        The agent's random stream; round ``t`` draws from its place for ``t``.
    remember : bool
        Whether to keep what was told, so that it can be withdrawn.

    Notes
    -----
    Rounds have numbers that only grow, so the ledger knows without keeping a list that a
    round which is no longer open was told or dropped: its memory is that of the open rounds,
    unless it is to remember.
    """

    def __init__(self, agent: Agent, stream: Stream, remember: bool = False) -> None:
        self.agent = agent
        self._past = UndoLog(agent) if remember else None
        self._stream = stream
        self._open: dict[int, tuple[Task, Choice]] = {}
        self._latest = 0
        self.told = 0  # descriptions passed on, less those withdrawn

    @property
    def open(self) -> list[int]:
        """The rounds that wait for a description."""
        return list(self._open)

    def ask(self, t: int, task: Task) -> Choice:
        """Have the agent respond in round ``t``; asked again, an open round answers the same."""
        if t <= self._latest:
            if t in self._open:
                return self._open[t][1]
            raise ProtocolError(f"Round {t} is over; the next must be above {self._latest}.")
        if type(task[0]) not in PLAIN:
            task = _handed(task)
        choice = plain_choice(self.agent.respond(task, self._stream.at(t)))
        propensity = choice.propensity
        if propensity is not None and not 0 < propensity <= 1:
            raise ProtocolError(
                f"In round {t} the agent stated a propensity of {propensity!r}: it must be a "
                "number above 0 and at most 1, or None if it is not known."
            )
        if choice.response not in task.responses:
            raise ProtocolError(
                f"In round {t} the agent chose {choice.response!r}, "
                f"which is not among the possible responses: {task.responses!r}."
            )
        choice = with_features_of(task, choice)
        self._open[t] = (task, choice)
        self._latest = t
        return choice

    def resume(self, t: int, task: Task, choice: Choice) -> None:
        """Take up a round that was asked before, by a ledger that is no more: it is open."""
        self._open[t] = (_handed(task), choice)
        self._latest = max(self._latest, t)

    def tell(self, t: int, description: Instruction) -> bool:
        """Teach the agent what it did in round ``t``; False if the round is no longer open."""
        pair = self._open.get(t)
        if pair is None:
            self._refuse_unasked(t)
            return False
        self.agent.learn(*pair, description)
        del self._open[t]
        self.told += 1
        if self._past is not None:
            self._past.add(Told(t, *pair, description))
        return True

    def withdraw(self, t: int) -> bool:
        """Take back what was told of round ``t``, which is open again; False if nothing was.

        The agent is then as if it had never been told: it unlearns exactly, if it can, else it
        goes back to an earlier state and learns again what came since.
        """
        if self._past is None:
            raise ProtocolError(
                "This ledger forgets what was told: to withdraw, make it with remember=True."
            )
        told = self._past.withdraw(t)
        if told is None:
            self._refuse_unasked(t)
            return False
        self._open[t] = (told.task, told.choice)
        self.told -= 1
        return True

    def drop(self, t: int) -> bool:
        """Close round ``t`` without a description; False if it is no longer open."""
        if self._open.pop(t, None) is None:
            self._refuse_unasked(t)
            return False
        return True

    def _refuse_unasked(self, t: int) -> None:
        if not 1 <= t <= self._latest:
            raise ProtocolError(f"Round {t} was never asked; the latest is {self._latest}.")


def _handed(task: Task) -> Task:
    """The task as the agent is given it, whose context it cannot change for anybody else."""
    context = read_only(task.context)
    return task if context is task.context else task._replace(context=context)


def plain_choice(choice: Any) -> Choice:
    """What an agent answered as a plain Choice of plain values; an error if it is none."""
    if not isinstance(choice, Choice):
        raise ProtocolError(
            f"respond must return a Choice, such as task.choose(y), not {choice!r}."
        )
    # A class of the agent's own may answer each time anew.
    plain = choice if type(choice) is Choice else Choice._make(tuple.__iter__(choice))
    if type(plain.response) is not int:
        plain = plain._replace(response=plain_response(plain.response))
    if plain.propensity is not None and type(plain.propensity) is not float:
        plain = plain._replace(propensity=plain_number(plain.propensity))
    return plain


def with_features_of(task: Task, choice: Choice) -> Choice:
    """The choice with the task's own features of its response, as a log or a pipe returns it."""
    features = task.responses.features(choice.response)
    return choice if choice.features is features else choice._replace(features=features)


def plain_number(number: Any) -> float:
    """A number without a class of the agent's own, which may compare as it likes, or NaN."""
    if isinstance(number, float):
        return float.__float__(number)
    if isinstance(number, np.floating | np.integer | np.bool_):
        return float(np.generic.item(number))
    if isinstance(number, int):
        return int.__int__(number)
    return float("nan")
