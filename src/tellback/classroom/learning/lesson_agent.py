"""The agent of a lesson, rebuilt from the lesson's log.

It equals, to the last bit, a new agent that is taught the active descriptions in the order in
which they were given. So an undo is exact, and a restart, a replica and a replay all agree.

If the lesson weighs descriptions, the most doubtful ones are left out. Which ones is
decided at some numbers of descriptions (``WEIGHED_AT``), by the descriptions so far and nothing
else. So what is above still holds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import cached_property, partial
from itertools import islice

from tellback.agents.agent import ModelAgent
from tellback.classroom.learning.definition import WEIGH, Definition
from tellback.classroom.learning.doubts import WEIGHED_AT, Doubts, weigh
from tellback.classroom.store.active import (
    ActiveDescription,
    active_descriptions,
    read_active,
    read_changes,
)
from tellback.classroom.store.database import Connection
from tellback.errors import SettingError, TellbackError
from tellback.ledger import ask_agent
from tellback.models.model import Model
from tellback.responses import Listed
from tellback.roles import Choice, State, Task, World
from tellback.streams import Stream, Streams
from tellback.undo_log import UndoLog

LOGGER = logging.getLogger(__name__)

MOST_SNAPSHOTS = 5
"""Fewer than by default: a classroom has many agents in memory, and some are large."""

MOST_DOUBTS = 2 * len(WEIGHED_AT)

Reader = Callable[[int], Iterable[ActiveDescription]]
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
    rebuilds : int
        How often the agent was restored from a snapshot; answers cached before that are stale.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.model_agent: ModelAgent = definition.build()
        self.seq = 0
        self.rebuilds = 0
        self._stream = Stream(definition.seed, "agent")
        self._refused: set[int] = set()  # events of active descriptions
        self._undo_log: UndoLog[int] = UndoLog(self.model_agent, MOST_SNAPSHOTS)
        self._first: dict[int, ActiveDescription] = {}  # those that are weighed, by their event
        self._left_out: dict[int, frozenset[int]] = {}  # by the number of descriptions weighed
        self._doubts: dict[tuple[int, ...], Doubts] = {}

    @property
    def learned(self) -> int:
        """Number of descriptions learned, without those refused by the model or left out."""
        return len(self._undo_log.taught) - len(self._refused) - len(self.left_out)

    @property
    def left_out(self) -> frozenset[int]:
        """The events of the descriptions that are left out because they are doubtful."""
        return next(reversed(self._left_out.values()), frozenset())

    @property
    def active(self) -> dict[int, int]:
        """The event of each round's description that was taught, in order."""
        return dict(self._undo_log.taught)

    @property
    def refused(self) -> list[int]:
        """The events of the descriptions that the model refused, in order."""
        return sorted(self._refused)

    @property
    def latest(self) -> int:
        """The event of the latest description that was taught; 0 if there is none."""
        return next(reversed(self._undo_log.taught.values()), 0)

    def was_taught(self, round: int) -> bool:
        """Whether it was taught a description of a round."""
        return round in self._undo_log.taught

    def choose(self, number: int, task: Task) -> Choice:
        """The agent's choice in a round. Changes nothing."""
        return ask_agent(self.model_agent, self._stream, number, task)[1]

    @cached_property
    def _world(self) -> World:  # built when it is first needed: some take a while
        if self.definition.world is None:
            raise SettingError("This lesson has no world, so its responses must be listed.")
        return self.definition.world.build(Streams(self.definition.seed).init("world")).world

    def world_task(self, number: int) -> Task:
        """A task of the lesson's world, by its number: the same every time."""
        stream = Streams(self.definition.seed).stream("world")
        return self._world.task(number, (), stream.at(number))

    def shortlisted(self, task: Task) -> Task:
        """The task with candidates that the agent draws, always the same; as it is if listed."""
        draw = getattr(self.model_agent, "shortlisted", None)
        return task if draw is None else draw(task, self._stream.at(0))

    def add(self, one: ActiveDescription) -> None:
        """Learn a description, the latest of the active ones."""
        self._teach(one)
        count = len(self._undo_log.taught) + 1
        if self.definition.doubt == WEIGH and count <= WEIGHED_AT[-1]:
            self._first[one.seq] = one
            if count in WEIGHED_AT:
                self._weigh([*self._undo_log.taught.values(), one.seq])
        self._undo_log.add(one.round, one.seq)

    def doubts_of(self, descriptions: Sequence[ActiveDescription]) -> Doubts:
        """What is believed of some descriptions. The latest answers are kept, for an undo."""
        which = tuple(one.seq for one in descriptions)
        found = self._doubts.pop(which, None) or weigh(self._empty_model, descriptions)
        self._doubts[which] = found
        while len(self._doubts) > MOST_DOUBTS:
            del self._doubts[next(iter(self._doubts))]
        return found

    def _empty_model(self) -> Model:
        return self.definition.build().model

    def _weigh(self, events: Sequence[int]) -> None:
        """Leave out the most doubtful of all descriptions so far, and only those."""
        descriptions = [self._first[seq] for seq in events]
        before, left_out = self.left_out, self.doubts_of(descriptions).left_out
        self._left_out[len(descriptions)] = left_out
        if left_out == before:
            return
        self.model_agent.restore(self.definition.build().state())
        self._refused.clear()
        for one in descriptions:
            if one.seq not in left_out:
                self._teach(one)

    def _teach(self, one: ActiveDescription) -> None:
        # Models learn from the response that was chosen; the others need not be read again.
        task, choice = Task(None, one.instruction, Listed(one.choice.features[None, :])), one.choice
        if one.drawn is not None:  # a proposal learns how it was made, which features do not say
            asked, response = self.world_task(one.drawn.task), one.drawn.response
            if response in asked.responses:  # or else a new version draws its worlds otherwise
                task, choice = asked, choice._replace(response=response)
        try:
            self.model_agent.learn(task, choice, one.description)
        except TellbackError as error:
            # It stays in the log. Every replay refuses it again.
            LOGGER.warning("round %s: the model will not learn: %s", one.round, error)
            self._refused.add(one.seq)

    def follow(self, connection: Connection, lesson: str, latest: int) -> None:
        """Learn the events of the lesson's log up to the latest."""
        if latest == self.seq:
            return
        for new in read_changes(connection, lesson, self.seq, latest):
            if new is None or self.was_taught(new.round):
                active = active_descriptions(connection, lesson)
                self.rebuild(active, partial(read_active, connection, lesson))
                break
            self.add(new)
        self.seq = latest

    def learn_written(self, before: int, latest: int, taught: list[ActiveDescription]) -> bool:
        """Learn what this process wrote after the event ``before``, without reading it again.

        Returns False, and learns nothing, if the log must be read.
        """
        rounds = {one.round for one in taught}
        if self.seq != before or len(rounds) < len(taught) or any(map(self.was_taught, rounds)):
            return False
        for one in taught:
            self.add(one)
        self.seq = latest
        return True

    def rebuild(self, active: dict[int, int], read: Reader) -> None:
        """Make it the agent that was taught these descriptions, in this order, and no others."""
        before = len(self._undo_log.taught)
        same = self._undo_log.rewind(active)
        if same < before:
            self.rebuilds += 1
            self._refused.intersection_update(self._undo_log.taught.values())
            self._left_out = {n: left for n, left in self._left_out.items() if n <= same}
        self.learn_new(read)

    def learn_new(self, read: Reader) -> None:
        """Learn all active descriptions after the latest that was taught."""
        taught = self._undo_log.taught
        if self.definition.doubt == WEIGH and len(taught) < WEIGHED_AT[-1]:
            known = self._first  # after a start from a checkpoint, they must be read
            self._first = {seq: known[seq] for seq in taught.values() if seq in known}
            if len(self._first) < len(taught):
                self._first = {one.seq: one for one in islice(read(0), len(taught))}
        for one in read(self.latest):
            self.add(one)

    def start_from(
        self,
        active: dict[int, int],
        state: State,
        refused: Iterable[int],
        left_out: Iterable[int] = (),
    ) -> None:
        """Start from a checkpoint: all descriptions, the state, those refused and left out."""
        self._undo_log.start_from(active, state)
        self._refused = set(refused)
        self._left_out = {len(active): frozenset(left_out)}

    def state(self) -> State:
        """A copy of the agent's state."""
        return deepcopy(dict(self.model_agent.state()))
