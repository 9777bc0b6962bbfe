"""The ledger: the open rounds of an agent.

Descriptions may come late, out of order, twice, or never. A lesson in the classroom has its log
instead, and shares `ask_agent` and the undo log with the ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tellback.errors import ProtocolError
from tellback.read_only import PLAIN, read_only
from tellback.responses import Listed, Shortlist
from tellback.roles import Agent, Choice, Instruction, Task, plain_response
from tellback.streams import Stream
from tellback.undo_log import Told, ToldLog

if TYPE_CHECKING:
    from tellback.recordings import Columns, Recording
    from tellback.recordings.teaching import Recalls


class Ledger:
    """Asks an agent, keeps the open rounds, and passes on each description once.

    Parameters
    ----------
    agent : Agent
        The agent that is asked and taught.
    stream : Stream
        The agent's random stream; round ``t`` draws from its place for ``t``.
    remember : bool
        Whether descriptions can be withdrawn: all of them are kept in memory.

    Notes
    -----
    Round numbers only grow. So an earlier round that is not open was told or dropped, and no list
    of closed rounds is needed.
    """

    def __init__(self, agent: Agent, stream: Stream, remember: bool = False) -> None:
        self.agent = agent
        self._told_log = ToldLog(agent) if remember else None
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
        task, choice = ask_agent(self.agent, self._stream, t, task)
        self._open[t] = (task, choice)
        self._latest = t
        return choice

    def resume(self, t: int, task: Task, choice: Choice) -> None:
        """Open a round again that another ledger asked, for example before a restart."""
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
        if self._told_log is not None:
            self._told_log.add(t, Told(*pair, description))
        return True

    def silence(self, t: int) -> bool:
        """Close round ``t``, of which the teacher had nothing to say; False if it is not open.

        An agent with ``learn_silence`` is told: its bonus for such a response must shrink, or an
        optimist would choose what nobody describes for ever. A description that got lost says
        nothing of the response: ``drop`` its round.
        """
        pair = self._open.get(t)
        learn_silence = getattr(self.agent, "learn_silence", None)
        if pair is None or learn_silence is None:
            return self.drop(t)
        learn_silence(*pair)
        del self._open[t]
        if self._told_log is not None:
            self._told_log.add(t, Told(*pair, None))
        return True

    def teach(
        self, recording: Recording, columns: Columns | None = None, world: Recalls | None = None
    ) -> range:
        """Teach the agent every description of a recording, in order.

        Parameters
        ----------
        recording, columns, world
            As in ``tellback.recordings.teaching.taught_rounds``.

        Returns
        -------
        range
            The rounds that the descriptions became. Each can be withdrawn as any other, and the
            next round to ask must be above them.
        """
        from tellback.recordings.teaching import taught_rounds  # loads encoders

        first = self._latest + 1
        facts = getattr(self.agent, "facts", None)
        for one in taught_rounds(recording, columns, facts, world):
            self.resume(self._latest + 1, one.task, one.choice)
            self.tell(self._latest, one.description)
        return range(first, self._latest + 1)

    def withdraw(self, t: int) -> bool:
        """Withdraw the description of round ``t``, which is open again; False if there is none.

        The agent is then as if it had never been told: it unlearns exactly, if it can. Otherwise
        it is restored from a snapshot and learns the later descriptions again.
        """
        if self._told_log is None:
            raise ProtocolError(
                "This ledger keeps no descriptions: to withdraw, make it with remember=True."
            )
        told = self._told_log.withdraw(t)
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


def ask_agent(agent: Agent, stream: Stream, t: int, task: Task) -> tuple[Task, Choice]:
    """The task as the agent is given it in round ``t``, and its choice, validated."""
    if type(task[0]) not in PLAIN:
        task = _handed(task)
    choice = plain_choice(agent.respond(task, stream.at(t)))
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
    if choice.shortlist is not None:
        _check_shortlist(choice.shortlist, choice, task, t)
    return task, choice


def _check_shortlist(shortlist: Shortlist, choice: Choice, task: Task, t: int) -> None:
    """An error if the response is not in the shortlist, with the features that the task gives it.

    The others are not looked up: that would cost as much as the agent's own features.
    """
    if isinstance(task.responses, Listed):
        raise ProtocolError(f"In round {t} the agent stated a shortlist of {task.responses!r}.")
    if not np.array_equal(shortlist.features(choice.place), choice.features):
        raise ProtocolError(
            f"In round {t} the shortlist has other features for {choice.response!r} than the task: "
            "make it by task.responses.shortlist(candidates)."
        )


def _handed(task: Task) -> Task:
    """The task with a read-only context: the agent must not change it for others."""
    context = read_only(task.context)
    return task if context is task.context else task._replace(context=context)


def plain_choice(choice: Any) -> Choice:
    """The answer of an agent as a plain Choice of plain values; an error if it is no Choice."""
    if not isinstance(choice, Choice):
        raise ProtocolError(
            f"respond must return a Choice, such as task.choose(y), not {choice!r}."
        )
    # A class of the agent's own may answer each time anew.
    plain = choice if type(choice) is Choice else Choice._make(tuple.__iter__(choice))
    if plain.shortlist is not None and type(plain.shortlist) is not Shortlist:
        raise ProtocolError(f"The shortlist of a Choice is a Shortlist, not {plain.shortlist!r}.")
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
    """A plain number: a class of the agent's own could compare as it likes. NaN if it is none."""
    if isinstance(number, float):
        return float.__float__(number)
    if isinstance(number, np.floating | np.integer | np.bool_):
        return float(np.generic.item(number))
    if isinstance(number, int):
        return int.__int__(number)
    return float("nan")
