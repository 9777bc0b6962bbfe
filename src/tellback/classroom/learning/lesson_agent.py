"""The agent of a lesson, rebuilt from the lesson's log.

It equals, to the last bit, a new agent that is taught the active descriptions in the order in
which they were given. So an undo is exact, and a restart, a replica and a replay all agree.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import cached_property

from tellback.agents.agent import ModelAgent
from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.active import ActiveDescription
from tellback.errors import SettingError, TellbackError
from tellback.ledger import ask_agent
from tellback.responses import Listed
from tellback.roles import Choice, State, Task, World
from tellback.streams import Stream, Streams
from tellback.undo_log import UndoLog

LOGGER = logging.getLogger(__name__)

MOST_SNAPSHOTS = 5
"""Fewer than by default: a classroom has many agents in memory, and some are large."""

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

    @property
    def learned(self) -> int:
        """Number of descriptions learned, without those that the model refused."""
        return len(self._undo_log.taught) - len(self._refused)

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
        self._undo_log.add(one.round, one.seq)

    def rebuild(self, active: dict[int, int], read: Reader) -> None:
        """Make it the agent that was taught these descriptions, in this order, and no others."""
        before = len(self._undo_log.taught)
        if self._undo_log.rewind(active) < before:
            self.rebuilds += 1
            self._refused.intersection_update(self._undo_log.taught.values())
        self.learn_new(read)

    def learn_new(self, read: Reader) -> None:
        """Learn all active descriptions after the latest that was taught."""
        for one in read(self.latest):
            self.add(one)

    def start_from(self, active: dict[int, int], state: State, refused: Iterable[int]) -> None:
        """Start from a checkpoint: the descriptions taught, the state, and those refused."""
        self._undo_log.start_from(active, state)
        self._refused = set(refused)

    def state(self) -> State:
        """A copy of the agent's state."""
        return deepcopy(dict(self.model_agent.state()))
