"""The agent of a lesson in this process, kept up with the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import Connection

from tellback.arrays import Indices
from tellback.classroom.learning.checkpoints import start_from_checkpoint
from tellback.classroom.learning.content import Content, features_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.demonstration import begun, content_of
from tellback.classroom.learning.exam import LATEST, Exam, Flip, exam_of
from tellback.classroom.learning.fold import Fold, taught_after
from tellback.classroom.learning.sureness import Considered, verdict
from tellback.classroom.store.asking import open_round
from tellback.classroom.store.database import Database
from tellback.classroom.store.lessons import Lesson
from tellback.classroom.store.log import Kind, LessonLog, changes_between, latest_event, writing
from tellback.classroom.store.rounds import latest_tasks, standing_rounds
from tellback.errors import SettingError
from tellback.responses import Listed
from tellback.roles import Choice, Instruction, Task
from tellback.streams import Streams

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
    """What has changed since the requests of the exam were last looked at."""

    learned: int
    flips: list[Flip]
    right: int | None
    requests: int
    version: int


class Learner:
    """One lesson in this process.

    Any process may have a learner of the same lesson: all fold the same log and agree to the
    last bit. Only the one that holds the lesson's lease writes checkpoints and progress.

    Parameters
    ----------
    database : Database
        Where the log is.
    lesson : Lesson
        The lesson.
    """

    def __init__(self, database: Database, lesson: Lesson) -> None:
        self.lesson = lesson.id
        self.name = lesson.name
        self.definition = Definition.from_data(lesson.definition)
        self._database = database
        self._lock = threading.RLock()
        self._simulation = begun(self.definition)
        streams = Streams(self.definition.seed)
        self._tasks, self._seconds = streams.stream("world"), streams.stream("second")
        self.exam: Exam = exam_of(self.definition, self._simulation)
        self.fold = Fold(self.definition)
        with database.read() as connection:
            stands = standing_rounds(connection, self.lesson)
            start_from_checkpoint(connection, self.lesson, self.fold, stands)
            self.fold.become(stands, taught_after(connection, self.lesson))
            self.fold.seq = latest_event(connection, self.lesson)
            self._recall_requests(connection)
        # Worked out when wanted: None after a request was added.
        self._answers: Indices | None = None

    def _recall_requests(self, connection: Connection) -> None:
        if self.exam.judged:
            return
        for instruction, features in latest_tasks(connection, self.lesson, LATEST):
            matrix = features_from(features, self.definition.facts.dim)
            self.exam.add(Task(None, instruction, Listed(matrix)))

    @property
    def asks_by_itself(self) -> bool:
        """Whether a world asks, and not a program."""
        return self._simulation is not None

    def catch_up(self) -> None:
        """Learn what the log has that is new."""
        with self._lock, self._database.read() as connection:
            self._catch_up(connection, latest_event(connection, self.lesson))

    def _catch_up(self, connection: Connection, latest: int) -> None:
        fold = self.fold
        if latest == fold.seq:
            return
        only_more = all(
            kind is Kind.DESCRIBED and round is not None and not fold.knows(round)
            for kind, round in changes_between(connection, self.lesson, fold.seq, latest)
        )
        read = taught_after(connection, self.lesson)
        if only_more:
            fold.learn_from(read)
        else:
            fold.become(standing_rounds(connection, self.lesson), read)
        fold.seq = latest

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

    def ask_by_itself(self, account: str, claim: Claim | None = None) -> Opened:
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
            with writing(self._database, self.lesson) as log:
                self._catch_up(log.connection, log.latest)
                version = self.fold.seq
                number = log.next_round()
                task, content = make(number)
                choice = self.fold.choose(number, task)
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
            self.fold.seq = log.latest
            self._note_request(task)
        return opened

    def _wants_second(self, number: int) -> bool:
        share = self.definition.second_share
        return share > 0 and float(self._seconds.at(number).random()) < share

    def _note_request(self, task: Task) -> None:
        if self.exam.judged:
            return
        self.exam.add(Task(None, task.instruction, task.responses))
        self._answers = None

    def consider(self, instruction: Instruction, responses: Listed) -> Considered:
        """What the agent thinks of every response to a request. Nothing is kept."""
        with self._lock:
            self.catch_up()
            return self._considered(Task(None, instruction, responses))

    @contextmanager
    def still(self) -> Iterator[Fold]:
        """The agent, which learns nothing meanwhile."""
        with self._lock:
            yield self.fold

    def examined(self) -> tuple[int, int, int, int]:
        """The latest event known, and of the held-out requests: how many are met, of how many."""
        with self._lock:
            right = self.exam.right(self.exam.answers(self.fold.agent)) or []
            return self.fold.seq, self.fold.learned, sum(right), len(right)

    def unsure(self, most: int = 5) -> list[tuple[Instruction, str]]:
        """The requests of the exam of which the agent is least sure, and why."""
        with self._lock:
            self.catch_up()
            thought = [(task, self._considered(task)) for task in self.exam.tasks]
        found = sorted(
            ((verdict(considered), task) for task, considered in thought),
            key=lambda pair: pair[0].margin,
        )
        return [(task.instruction, one.says) for one, task in found if not one.sure][:most]

    def _considered(self, task: Task) -> Considered:
        agent = self.fold.agent
        return Considered(
            agent.model.estimates(task.instruction, task.responses),
            agent.explorer.bonuses(task.responses),
            self.fold.learned,
            self.fold.seq,
        )

    def effect(self) -> Effect:
        """Learn what is new, and say what that changed."""
        with self._lock:
            before = self._answers
            if before is None:
                before = self.exam.answers(self.fold.agent)
            self.catch_up()
            self._answers = after = self.exam.answers(self.fold.agent)
            right = self.exam.right(after)
            return Effect(
                self.fold.learned,
                self.exam.flips(before, after),
                None if right is None else sum(right),
                len(self.exam.tasks),
                self.fold.seq,
            )
