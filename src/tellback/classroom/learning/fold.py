"""The agent of a lesson as a fold of its log.

The agent is what a new one becomes when it is taught the descriptions that stand, in the order
in which they were given: nothing else, and to the last bit. To add one is to learn it. To take
one out, wherever it is, is to go back to a state from before it and to learn again what came
after. Hence an undo is exact, and a restart, a replica and a replay all agree.
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
from tellback.classroom.store.rounds import PAGE, STANDING_PAGE, asked_from
from tellback.errors import TellbackError
from tellback.ledger import Ledger
from tellback.responses import Listed
from tellback.roles import Choice, Instruction, State, Task
from tellback.streams import Stream

LOGGER = logging.getLogger(__name__)

SNAPSHOT_EVERY = 64
"""Descriptions between two states that are kept in memory: an undo learns at most this many."""

MOST_SNAPSHOTS = 4


class Taught(NamedTuple):
    """A description that stands, with what it describes."""

    round: int
    seq: int
    instruction: Instruction
    choice: Choice
    description: Instruction


Reading = Callable[[int], Iterable[Taught]]
"""The descriptions that stand after an event, in their order."""


class Fold:
    """An agent that has been taught the descriptions of a log.

    Parameters
    ----------
    definition : Definition
        The lesson's.

    Attributes
    ----------
    agent : ModelAgent
        The agent.
    seq : int
        The event up to which the log is known.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.agent: ModelAgent = definition.build()
        self.seq = 0
        self.returns = 0  # how often it went back: then as many can be others
        self._stream = Stream(definition.seed, "agent")
        self._stands: dict[int, int] = {}
        self._refused: set[int] = set()  # of those that stand
        self._snapshots: list[tuple[int, State]] = [(0, self._state())]

    @property
    def learned(self) -> int:
        """How many descriptions the agent has learned: not those that its model refused."""
        return len(self._stands) - len(self._refused)

    @property
    def stands(self) -> dict[int, int]:
        """Which description of each round it was taught, in their order."""
        return dict(self._stands)

    @property
    def refused(self) -> list[int]:
        """The events of the descriptions that the model would not learn, in their order."""
        return sorted(self._refused)

    def choose(self, number: int, task: Task) -> Choice:
        """What the agent does in a round. Changes nothing."""
        # A ledger for this round alone: the log remembers all the others.
        return Ledger(self.agent, self._stream).ask(number, task)

    def add(self, taught: Taught) -> None:
        """Learn a description that is the latest to stand."""
        ledger = Ledger(self.agent, self._stream)
        # Models learn from the response that was chosen; the others need not be read again.
        task = Task(None, taught.instruction, Listed(taught.choice.features[None, :]))
        ledger.resume(taught.round, task, taught.choice)
        try:
            ledger.tell(taught.round, taught.description)
        except TellbackError as error:
            # It stays in the log and is refused at every replay, alike.
            LOGGER.warning("round %s: the model will not learn: %s", taught.round, error)
            self._refused.add(taught.seq)
        self._stands[taught.round] = taught.seq
        if len(self._stands) % SNAPSHOT_EVERY == 0:
            self._keep_snapshot()

    def knows(self, round: int) -> bool:
        """Whether it was taught a description of a round."""
        return round in self._stands

    @property
    def latest(self) -> int:
        """The event of the latest description it was taught; 0 if there is none."""
        return next(reversed(self._stands.values()), 0)

    def become(self, stands: dict[int, int], read: Reading) -> None:
        """Be what these descriptions teach, and no others."""
        wanted = list(stands.items())
        common = _common(list(self._stands.items()), wanted)
        if common < len(self._stands):
            self._go_back(common, wanted)
        self.learn_from(read)

    def learn_from(self, read: Reading) -> None:
        """Learn all descriptions after the latest that it was taught."""
        for taught in read(self.latest):
            self.add(taught)

    def _go_back(self, most: int, wanted: list[tuple[int, int]]) -> None:
        """Go back to the newest state that was taught at most so many."""
        self.returns += 1
        self._snapshots = [kept for kept in self._snapshots if kept[0] <= most]
        count, state = self._snapshots[-1]
        self.agent.restore(deepcopy(dict(state)))
        self._stands = dict(wanted[:count])
        self._refused.intersection_update(self._stands.values())

    def start_from(self, stands: dict[int, int], state: State, refused: Iterable[int]) -> None:
        """Take over a state that was taught these descriptions, of which it refused some."""
        self.agent.restore(state)
        self._stands, self._refused = dict(stands), set(refused)
        self._keep_snapshot()

    def state(self) -> State:
        """All that the agent has learned."""
        return self._state()

    def _state(self) -> State:
        return deepcopy(dict(self.agent.state()))

    def _keep_snapshot(self) -> None:
        self._snapshots.append((len(self._stands), self._state()))
        if len(self._snapshots) > MOST_SNAPSHOTS + 1:
            del self._snapshots[1]  # the one before anything was taught stays


def _common(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> int:
    """How many entries two lists begin with that are the same."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def taught_after(connection: Connection, lesson: str) -> Reading:
    """Reads the descriptions of a lesson that stand."""

    def read(after: int) -> Iterator[Taught]:
        while True:
            rows = connection.execute(STANDING_PAGE, {"lesson": lesson, "after": after}).all()
            yield from map(taught_from, rows)
            if len(rows) < PAGE:
                return
            after = rows[-1].described

    return read


def taught_from(row: Row[Any]) -> Taught:
    """A description that stands, from its row."""
    asked = asked_from(json.loads(row.asked_data))
    description = json.loads(row.described_data)["description"]
    return Taught(row.number, row.described, asked.instruction, asked.choice, description)


def digest_of(stands: Iterable[tuple[int, int]]) -> str:
    """A name for a list of descriptions that no other list has."""
    return hashlib.sha256(json.dumps(list(stands)).encode()).hexdigest()


def same_state(one: State, other: State) -> bool:
    """Whether two states are the same to the last bit."""
    return one.keys() == other.keys() and all(
        _bits(value) == _bits(other[name]) for name, value in one.items()
    )


def _bits(value: object) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()
