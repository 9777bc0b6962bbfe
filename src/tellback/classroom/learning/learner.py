"""The agent of a lesson in this process, kept up with the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection

from tellback.arrays import Indices
from tellback.classroom.learning.checkpoints import start_from_checkpoint
from tellback.classroom.learning.content import Content, features_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.demonstration import build_simulation, content_of
from tellback.classroom.learning.exam import LATEST, MOST_NUMBERS, Exam, Flip, exam_of
from tellback.classroom.learning.lesson_agent import LessonAgent, active_reader
from tellback.classroom.learning.sureness import Considered, verdict
from tellback.classroom.store.asked_rounds import open_round
from tellback.classroom.store.database import Database
from tellback.classroom.store.lessons import LessonRow
from tellback.classroom.store.log import Kind, LessonLog, changes_between, latest_event, writing
from tellback.classroom.store.rounds import active_descriptions, find_request, latest_described
from tellback.errors import SettingError, TellbackError
from tellback.responses import Listed
from tellback.roles import Choice, Instruction, Task
from tellback.streams import Streams

Done = TypeVar("Done")

Claim = tuple[str, float]
"""Who has a response to describe, and until when."""


class Opened(NamedTuple):
    """A round that was just asked."""

    number: int
    instruction: Instruction
    choice: Choice
    version: int
    content: Content


class Effect(NamedTuple):
    """What a description has changed."""

    learned: int
    flips: list[Flip]
    right: int | None
    requests: int
    version: int


class Learner:
    """One lesson in this process.

    Any process may have a learner of the same lesson. All rebuild the agent from the same log and
    agree to the last bit. Only the holder of the lesson's lease writes checkpoints and progress.

    Parameters
    ----------
    database : Database
        Where the log is.
    lesson : LessonRow
        The lesson.
    """

    def __init__(self, database: Database, lesson: LessonRow) -> None:
        self.lesson = lesson.id
        self.name = lesson.name
        self.definition = Definition.from_data(lesson.definition)
        self._database = database
        self._lock = threading.RLock()
        self._simulation = build_simulation(self.definition)
        streams = Streams(self.definition.seed)
        self._tasks, self._seconds = streams.stream("world"), streams.stream("second")
        self.exam: Exam = exam_of(self.definition, self._simulation)
        self.agent = LessonAgent(self.definition)
        with database.read() as connection:
            active = active_descriptions(connection, self.lesson)
            start_from_checkpoint(connection, self.lesson, self.agent, active)
            self.agent.rebuild(active, active_reader(connection, self.lesson))
            self.agent.seq = latest_event(connection, self.lesson)
        self._requests: dict[int, Task | None] = {}
        # Worked out when wanted: None after the requests have changed.
        self._answers: tuple[tuple[int, int, int], Indices] | None = None

    def _choose_requests(self, connection: Connection) -> None:
        """Where no requests are held out, look at those that were described last."""
        if self.exam.judged:
            return
        chosen: dict[int, Task | None] = {}
        numbers = 0
        for round in latest_described(connection, self.lesson, LATEST):
            known = round in self._requests
            task = self._requests[round] if known else self._request(connection, round)
            numbers += 0 if task is None else task.responses.matrix.size
            if chosen and numbers > MOST_NUMBERS:
                break
            chosen[round] = task
        if chosen.keys() != self._requests.keys():
            self._requests, self._answers = chosen, None
            self.exam.tasks = [task for task in chosen.values() if task is not None]

    def _request(self, connection: Connection, round: int) -> Task | None:
        """The request of a round; None if the model refuses it, which is no matter of others."""
        instruction, features = find_request(connection, self.lesson, round)
        responses = Listed(features_from(features, self.definition.facts.dim))
        task = Task(None, instruction, responses)
        try:
            self._considered(task)
        except TellbackError:
            return None
        return task

    @property
    def has_world(self) -> bool:
        """Whether a world asks, and not a program."""
        return self._simulation is not None

    def catch_up(self) -> None:
        """Learn what the log has that is new."""
        with self._lock, self._database.read() as connection:
            self._catch_up(connection, latest_event(connection, self.lesson))

    def _catch_up(self, connection: Connection, latest: int) -> None:
        agent = self.agent
        if latest == agent.seq:
            return
        only_more = all(
            kind is Kind.DESCRIBED and round is not None and not agent.was_taught(round)
            for kind, round in changes_between(connection, self.lesson, agent.seq, latest)
        )
        read = active_reader(connection, self.lesson)
        if only_more:
            agent.learn_new(read)
        else:
            agent.rebuild(active_descriptions(connection, self.lesson), read)
        agent.seq = latest

    def ask(
        self,
        instruction: Instruction,
        responses: Listed,
        content: Content,
        account: str,
        claim: Claim | None = None,
        also: Callable[[LessonLog, Opened], None] | None = None,
    ) -> Opened:
        """Have the agent respond to a task that a program brings, and keep the round.

        ``also`` is done in the same transaction.
        """
        task = Task(None, instruction, responses)
        return self._ask(lambda _: (task, content), account, claim, also)

    def ask_from_world(self, account: str, claim: Claim | None = None) -> Opened:
        """Have the agent respond to the next task of the lesson's world, and keep the round."""
        return self._ask(self._drawn, account, claim)

    def _drawn(self, number: int) -> tuple[Task, Content]:
        if self._simulation is None:
            raise SettingError("This lesson has no world that asks: a program must.")
        task = self._simulation.world.task(number, (), self._tasks.at(number))
        return task, content_of(task)

    def _ask(
        self,
        make: Callable[[int], tuple[Task, Content]],
        account: str,
        claim: Claim | None,
        also: Callable[[LessonLog, Opened], None] | None = None,
    ) -> Opened:
        with self._lock:
            with writing(self._database, self.lesson, rounds=1) as log:
                self._catch_up(log.connection, log.latest)
                version = self.agent.seq
                number = log.next_round()
                task, content = make(number)
                choice = self.agent.choose(number, task)
                open_round(
                    log,
                    number=number,
                    instruction=task.instruction,
                    choice=choice,
                    version=version,
                    features=task.responses.matrix,
                    content=content.packed(),
                    account=account,
                    wants_second=self._wants_second(number),
                    claim=claim,
                )
                opened = Opened(number, task.instruction, choice, version, content)
                if also is not None:
                    also(log, opened)
            # Only now is it certain; a question teaches nothing.
            self.agent.seq = log.latest
        return opened

    def _wants_second(self, number: int) -> bool:
        share = self.definition.second_share
        return share > 0 and float(self._seconds.at(number).random()) < share

    def consider(self, instruction: Instruction, responses: Listed) -> Considered:
        """What the agent thinks of every response to a request. Nothing is kept."""
        with self._lock:
            self.catch_up()
            return self._considered(Task(None, instruction, responses))

    @contextmanager
    def still(self) -> Iterator[LessonAgent]:
        """The agent, which learns nothing meanwhile."""
        with self._lock:
            yield self.agent

    def examined(self) -> tuple[int, int, int, int]:
        """The latest event known, and of the held-out requests: how many are met, of how many."""
        with self._lock:
            right = self.exam.right(self._answered()) or []
            return self.agent.seq, self.agent.learned, sum(right), len(right)

    def unsure(self, most: int = 5) -> list[tuple[Instruction, str]]:
        """The requests of the exam of which the agent is least sure, and why."""
        with self._lock, self._database.read() as connection:
            self._choose_requests(connection)
            self._catch_up(connection, latest_event(connection, self.lesson))
            thought = [(task, self._considered(task)) for task in self.exam.tasks]
        found = sorted(
            ((verdict(considered), task) for task, considered in thought),
            key=lambda pair: pair[0].margin,
        )
        return [(task.instruction, one.says) for one, task in found if not one.sure][:most]

    def _considered(self, task: Task) -> Considered:
        agent = self.agent.model_agent
        return Considered(
            agent.model.estimates(task.instruction, task.responses),
            agent.explorer.bonuses(task.responses),
            self.agent.learned,
            self.agent.seq,
        )

    def effect_of(self, teach: Callable[[], Done]) -> tuple[Done, Effect]:
        """Do something that teaches, and say what that alone has changed."""
        with self._lock:
            with self._database.read() as connection:
                self._choose_requests(connection)
                self._catch_up(connection, latest_event(connection, self.lesson))
            before = self._answered()
            done = teach()
            self.catch_up()
            after = self._answered()
            right = self.exam.right(after)
            effect = Effect(
                self.agent.learned,
                self.exam.flips(before, after),
                None if right is None else sum(right),
                len(self.exam.tasks),
                self.agent.seq,
            )
        return done, effect

    def _answered(self) -> Indices:
        """What the agent would do for the requests of the exam, worked out once a state."""
        known = self.agent.learned, self.agent.latest, self.agent.rebuilds
        if self._answers is None or self._answers[0] != known:
            self._answers = known, self.exam.answers(self.agent.model_agent)
        return self._answers[1]
