"""The agent of a lesson, rebuilt from the lesson's log.

It equals, to the last bit, a new agent that is taught the active descriptions in the order in
which they were given. A new description is learned. To remove one, the agent is restored from a
snapshot before it and learns the later ones again. So an undo is exact, and a restart, a replica
and a replay all agree.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Row

from tellback.agents.agent import ModelAgent
from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.rounds import ACTIVE_PAGE, PAGE, parse_asked
from tellback.errors import TellbackError
from tellback.ledger import Ledger
from tellback.responses import Listed
from tellback.roles import Choice, Instruction, State, Task
from tellback.streams import Stream

LOGGER = logging.getLogger(__name__)

SNAPSHOT_EVERY = 64
"""Descriptions between two snapshots in memory."""

MOST_SNAPSHOTS = 4


class Taught(NamedTuple):
    """An active description, with the response that it describes."""

    round: int
    seq: int
    instruction: Instruction
    choice: Choice
    description: Instruction


Reading = Callable[[int], Iterable[Taught]]
"""Reads the active descriptions after an event, in order."""


class LessonAgent:
    """The agent of a lesson, rebuilt from the lesson's log.

    Parameters
    ----------
    definition : Definition
        The lesson's.

    Attributes
    ----------
    model_agent : ModelAgent
        The agent itself.
    seq : int
        The latest event of the log that was read.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.model_agent: ModelAgent = definition.build()
        self.seq = 0
        self.rebuilds = 0  # how often the agent was restored; answers cached before that are stale
        self._stream = Stream(definition.seed, "agent")
        self._active: dict[int, int] = {}
        self._refused: set[int] = set()  # of the active ones
        self._snapshots: list[tuple[int, State]] = [(0, self._state())]

    @property
    def learned(self) -> int:
        """Number of descriptions learned, without those that the model refused."""
        return len(self._active) - len(self._refused)

    @property
    def active(self) -> dict[int, int]:
        """The event of each round's description that was taught, in order."""
        return dict(self._active)

    @property
    def refused(self) -> list[int]:
        """The events of the descriptions that the model refused, in order."""
        return sorted(self._refused)

    def choose(self, number: int, task: Task) -> Choice:
        """The agent's choice in a round. Changes nothing."""
        # A ledger for this round alone: the log remembers all the others.
        return Ledger(self.model_agent, self._stream).ask(number, task)

    def add(self, taught: Taught) -> None:
        """Learn a description, the latest of the active ones."""
        ledger = Ledger(self.model_agent, self._stream)
        # Models learn from the response that was chosen; the others need not be read again.
        task = Task(None, taught.instruction, Listed(taught.choice.features[None, :]))
        ledger.resume(taught.round, task, taught.choice)
        try:
            ledger.tell(taught.round, taught.description)
        except TellbackError as error:
            # It stays in the log. Every replay refuses it again.
            LOGGER.warning("round %s: the model will not learn: %s", taught.round, error)
            self._refused.add(taught.seq)
        self._active[taught.round] = taught.seq
        if len(self._active) % SNAPSHOT_EVERY == 0:
            self._keep_snapshot()

    def was_taught(self, round: int) -> bool:
        """Whether it was taught a description of a round."""
        return round in self._active

    @property
    def latest(self) -> int:
        """The event of the latest description that was taught; 0 if there is none."""
        return next(reversed(self._active.values()), 0)

    def rebuild(self, active: dict[int, int], read: Reading) -> None:
        """Make it the agent that was taught these descriptions, in this order, and no others."""
        wanted = list(active.items())
        common = _common(list(self._active.items()), wanted)
        if common < len(self._active):
            self._restore(common, wanted)
        self.learn_new(read)

    def learn_new(self, read: Reading) -> None:
        """Learn all active descriptions after the latest that was taught."""
        for taught in read(self.latest):
            self.add(taught)

    def _restore(self, most: int, wanted: list[tuple[int, int]]) -> None:
        """Restore the newest snapshot of at most ``most`` descriptions."""
        self.rebuilds += 1
        self._snapshots = [kept for kept in self._snapshots if kept[0] <= most]
        count, state = self._snapshots[-1]
        self.model_agent.restore(deepcopy(dict(state)))
        self._active = dict(wanted[:count])
        self._refused.intersection_update(self._active.values())

    def start_from(self, active: dict[int, int], state: State, refused: Iterable[int]) -> None:
        """Start from a checkpoint: its state, the descriptions taught, and those refused."""
        self.model_agent.restore(state)
        self._active, self._refused = dict(active), set(refused)
        self._keep_snapshot()

    def state(self) -> State:
        """A copy of the agent's state."""
        return self._state()

    def _state(self) -> State:
        return deepcopy(dict(self.model_agent.state()))

    def _keep_snapshot(self) -> None:
        self._snapshots.append((len(self._active), self._state()))
        if len(self._snapshots) > MOST_SNAPSHOTS + 1:
            del self._snapshots[1]  # the first, of nothing taught, stays


def _common(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> int:
    """Length of the common prefix of two lists."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def active_reader(connection: Connection, lesson: str) -> Reading:
    """A reader of the active descriptions of a lesson."""

    def read(after: int) -> Iterator[Taught]:
        while True:
            rows = connection.execute(ACTIVE_PAGE, {"lesson": lesson, "after": after}).all()
            yield from map(taught_from, rows)
            if len(rows) < PAGE:
                return
            after = rows[-1].described

    return read


def taught_from(row: Row[Any]) -> Taught:
    """An active description from its row."""
    asked = parse_asked(json.loads(row.asked_data))
    description = json.loads(row.described_data)["description"]
    return Taught(row.number, row.described, asked.instruction, asked.choice, description)


def digest_of(active: Iterable[tuple[int, int]]) -> str:
    """Digest of a list of descriptions."""
    return hashlib.sha256(json.dumps(list(active)).encode()).hexdigest()


def same_state(one: State, other: State) -> bool:
    """Whether two states are equal to the last bit."""
    return one.keys() == other.keys() and all(
        _bits(value) == _bits(other[name]) for name, value in one.items()
    )


def _bits(value: object) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()
