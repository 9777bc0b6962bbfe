"""The undo log: what an agent was taught, and snapshots from which to teach it again.

One engine for all that takes descriptions back: a ledger that withdraws one, and the agent of a
lesson in the classroom, whose active descriptions can change anywhere in their order. An agent
that is restored from a snapshot and taught the rest again is, to the last bit, one that was taught
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from tellback.errors import ProtocolError
from tellback.roles import Agent, Choice, Instruction, State, Task

SNAPSHOT_EVERY = 64
"""Descriptions between two snapshots."""

MOST_SNAPSHOTS = 16

Entry = TypeVar("Entry")


class UndoLog(Generic[Entry]):
    """What an agent was taught, in order, and snapshots of its state in between.

    Parameters
    ----------
    agent : Agent
        The agent. It is taught by the caller, who adds each description here.
    most : int
        The largest number of snapshots, at least 4. Beyond it, old ones are thinned out: memory
        stays bounded, and a longer part is taught again.

    Attributes
    ----------
    taught : dict
        An entry for each round whose description was taught, in order.
    """

    def __init__(self, agent: Agent, most: int = MOST_SNAPSHOTS) -> None:
        self._agent: Any = agent
        self._most = most
        self.taught: dict[int, Entry] = {}
        self._snapshots: list[tuple[int, State]] = []  # with the number of descriptions taught
        self._take_snapshot()

    def add(self, t: int, entry: Entry) -> None:
        """Add the description of round ``t``, which the agent has just learned."""
        self.taught[t] = entry
        if len(self.taught) % SNAPSHOT_EVERY == 0:
            self._take_snapshot()

    def rewind(self, wanted: Mapping[int, Entry]) -> int:
        """Restore the newest snapshot that was taught only the first of ``wanted``, in order.

        Nothing is restored if the agent was taught no others.

        Returns
        -------
        int
            How many of ``wanted`` the agent has been taught. The caller teaches and adds the rest.
        """
        same = 0
        for mine, theirs in zip(self.taught.items(), wanted.items(), strict=False):
            if mine != theirs:
                break
            same += 1
        if same == len(self.taught):
            return same
        self._snapshots = self._before(same)
        count, state = self._snapshots[-1]
        self._agent.restore(deepcopy(state))
        self.taught = dict(islice(wanted.items(), count))
        return count

    def remove(self, t: int) -> None:
        """Remove the description of round ``t``, which the agent itself has unlearned."""
        self._snapshots = self._before(list(self.taught).index(t))
        del self.taught[t]

    def start_from(self, taught: Mapping[int, Entry], state: State) -> None:
        """Start from a state that was taught these descriptions, in this order."""
        self._agent.restore(state)
        self.taught = dict(taught)
        self._take_snapshot()

    @contextmanager
    def unchanged_on_error(self) -> Iterator[None]:
        """Rewind and teach inside this block: an error, or an interrupt, changes nothing."""
        if not self._snapshots:
            raise ProtocolError(
                f"{type(self._agent).__name__} can neither withdraw what it has learned nor go "
                "back to an earlier state: it has no state and restore."
            )
        state, taught, snapshots = self._agent.state(), self.taught, self._snapshots
        try:
            yield
        except BaseException:
            self._agent.restore(state)
            self.taught, self._snapshots = taught, snapshots
            raise

    def _before(self, count: int) -> list[tuple[int, State]]:
        """The snapshots that were taught at most so many descriptions."""
        return [snapshot for snapshot in self._snapshots if snapshot[0] <= count]

    def _take_snapshot(self) -> None:
        state = getattr(self._agent, "state", None)
        if state is None or not hasattr(self._agent, "restore"):
            return
        # A copy, because an agent may go on to change the arrays that it gave.
        self._snapshots.append((len(self.taught), deepcopy(dict(state()))))
        if len(self._snapshots) > self._most:
            # The one between the closest neighbours goes. The first stays, and the latest two,
            # because the latest descriptions are taken back most often.
            at = [count for count, _ in self._snapshots]
            del self._snapshots[min(range(1, len(at) - 2), key=lambda i: at[i + 1] - at[i - 1])]


class Told(NamedTuple):
    """A description that an agent has learned."""

    task: Task
    choice: Choice
    description: Instruction | None  # None if the teacher had nothing to say


class ToldLog(UndoLog[Told]):
    """The descriptions that a ledger passed on, each of which can be withdrawn."""

    def withdraw(self, t: int) -> Told | None:
        """Make the agent as if it had never been told of round ``t``; None if it was not.

        It unlearns exactly, if it can. Otherwise it is taught the others again.
        """
        told = self.taught.get(t)
        if told is None or told.description is None:
            return None
        unlearn = getattr(self._agent, "withdraw", None)
        if unlearn is not None and unlearn(*told):
            self.remove(t)
            return told
        wanted = {other: one for other, one in self.taught.items() if other != t}
        with self.unchanged_on_error():
            for other, one in islice(wanted.items(), self.rewind(wanted), None):
                self._teach(one)
                self.add(other, one)
            if hasattr(self._agent, "withdrawn"):  # the agent's own count of withdrawals
                self._agent.withdrawn += 1
        return told

    def _teach(self, one: Told) -> None:
        if one.description is None:
            self._agent.learn_silence(one.task, one.choice)
        else:
            self._agent.learn(*one)
