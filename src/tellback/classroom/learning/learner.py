"""The agent of a lesson in this process, kept up with the log."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import NamedTuple

from tellback.agents.proposing import ProposingAgent
from tellback.classroom.learning.checkpoints import checkpoint_of, start_from_checkpoint
from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.definition import OFF, Definition
from tellback.classroom.learning.demonstration import build_simulation, content_of
from tellback.classroom.learning.doubts import WEIGHED_AT
from tellback.classroom.learning.drawing import drawing_of
from tellback.classroom.learning.exam import Effect, Exam
from tellback.classroom.learning.examination import Examination
from tellback.classroom.learning.group_commit import Change, GroupCommit
from tellback.classroom.learning.heard import Heard
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.learning.material import MaterialRounds, PreparedRound
from tellback.classroom.learning.sureness import Considered
from tellback.classroom.learning.verdicts import Verdicts
from tellback.classroom.store.active import active_descriptions, read_active
from tellback.classroom.store.checkpoints import add_checkpoint
from tellback.classroom.store.claims import claim_round
from tellback.classroom.store.database import Connection, Database
from tellback.classroom.store.descriptions import AskedAgain, DescriptionResult, describe
from tellback.classroom.store.idempotency import (
    AnsweredError,
    KeyedRequest,
    add_answer,
    find_answer,
)
from tellback.classroom.store.lessons import LessonRow
from tellback.classroom.store.log import LessonLog, latest_event, latest_round, writing
from tellback.classroom.store.progress import CurvePoint
from tellback.classroom.store.rounds import (
    AskedRound,
    Drawn,
    Known,
    RoundPart,
    RoundRow,
    find_asked,
    find_round,
    open_round,
)
from tellback.classroom.store.tasks import Content, TaskRow, copied_content, find_task
from tellback.errors import SettingError
from tellback.responses import Listed
from tellback.roles import Choice, Instruction, Task
from tellback.specs import Data
from tellback.streams import Streams


class OpenedRound(NamedTuple):
    """A new round: what was chosen, the version of the agent, and its advice if another acted."""

    number: int
    choice: Choice
    version: int
    advice: Data | None = None


class ClaimedRound(NamedTuple):
    """A round that a teacher has claimed: the response and the task, without the request."""

    response: int
    task: TaskRow


Drawings = Callable[[int], str]
"""The drawing of a candidate, by its place."""


class Learner:
    """One lesson in this process.

    Any process may have a learner of the same lesson. All rebuild the agent from the same log and
    agree to the last bit. Only the holder of the lesson's lease writes checkpoints and progress.
    """

    def __init__(self, database: Database, lesson: LessonRow) -> None:
        self.lesson = lesson.id
        self.name = lesson.name
        self.definition = Definition.stored(lesson.definition)
        self._database = database
        self._lock = threading.RLock()
        self._group_commit = GroupCommit(self._commit)
        self._simulation = build_simulation(self.definition)
        streams = Streams(self.definition.seed)
        self._tasks, self._seconds = streams.stream("world"), streams.stream("second")
        self.verdicts = Verdicts(self.definition, self._simulation)
        self.agent = LessonAgent(self.definition)
        self._material: MaterialRounds | None = None
        with database.read() as connection:
            if self.definition.material is not None:
                self._material = MaterialRounds(
                    connection, self.lesson, self.definition.material, self.definition.seed
                )
            active = active_descriptions(connection, self.lesson)
            start_from_checkpoint(connection, self.lesson, self.agent, active)
            self.agent.rebuild(active, partial(read_active, connection, self.lesson))
            self.agent.seq = latest_event(connection, self.lesson)
        self.heard = Heard(database, self.lesson, self.agent)
        self.examination = Examination(
            self.lesson, self.definition, self._simulation, self.agent, self.heard
        )

    @property
    def exam(self) -> Exam:
        """The requests that the agent is examined with."""
        return self.examination.exam

    @property
    def has_world(self) -> bool:
        """Whether tasks come from a world or from own material, and not from a program."""
        return self._simulation is not None or self._material is not None

    @contextmanager
    def locked(self) -> Iterator[LessonAgent]:
        """The agent, which learns nothing meanwhile."""
        with self._lock:
            yield self.agent

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that reads the lesson's database."""
        return self._database.read()

    def catch_up(self) -> None:
        """Learn the new events of the log."""
        with self._lock, self._database.read() as connection:
            self.agent.follow(connection, self.lesson, latest_event(connection, self.lesson))

    def keep_checkpoint(self) -> bool:
        """Store the state of the agent, so that a restart is quick.

        Returns False, and stores nothing, if words were redacted since: they must not come back.
        """
        with self._lock:
            make = checkpoint_of(self.agent)
        checkpoint = make()  # nobody waits for it, neither for the lesson nor for the database
        with writing(self._database, self.lesson) as log:
            return add_checkpoint(log, checkpoint)

    # Asking.

    def ask(
        self,
        instruction: Instruction,
        responses: Listed,
        content: Content,
        account: str,
        request: KeyedRequest | None = None,
        acted: Choice | None = None,
    ) -> OpenedRound:
        """Have the agent respond to the task of a program, in a new round.

        A ``request`` that comes again opens no other round: the first one is returned. If another
        policy has ``acted``, the round is of its response, and the agent's choice is advice.
        """
        prepared = PreparedRound(Task(None, instruction, responses), content)
        try:
            opened = self._open(prepared, account, request=request, acted=acted)
        except AnsweredError:
            answered = self.answered(request)
            if answered is None:
                raise
            return answered
        assert opened is not None
        return opened

    def answered(self, request: KeyedRequest | None) -> OpenedRound | None:
        """The round that a request has opened before; None if it has opened none."""
        if request is None:
            return None
        with self._database.read() as connection:
            answer = find_answer(connection, request)
            if answer is None:
                return None
            number = json.loads(answer)["round"]
            asked = find_asked(connection, self.lesson, find_round(connection, self.lesson, number))
        return OpenedRound(number, asked.choice, asked.version, asked.advice)

    def ask_from_world(self, account: str, until: float | None = None) -> OpenedRound:
        """Have the agent respond to the next task of the lesson's world, in a new round.

        With ``until``, the round is claimed for the account until then.
        """
        if not self.has_world:
            raise SettingError("This lesson has no world that asks: a program must.")
        with self._lock:
            while True:
                with self._database.read() as connection:
                    number = latest_round(connection, self.lesson) + 1
                    # Pictures take a while to draw: not in a transaction that writes.
                    prepared = self._prepared(connection, number)
                opened = self._open(prepared, account, until=until, expected=number)
                if opened is not None:  # else another process took the number
                    return opened

    def open_known(
        self,
        instruction: Instruction,
        responses: Listed,
        content: Content,
        choice: Choice,
        known: Known,
        account: str,
        request: KeyedRequest | None = None,
    ) -> OpenedRound:
        """A new round whose answers are known. The agent is not asked, and learns nothing."""
        asked = AskedRound(instruction, choice, self.agent.seq, part=RoundPart.KNOWN, known=known)
        return self._open_known(asked, responses, content, account, request)

    def copy_as_known(self, round: int, known: Known, account: str) -> OpenedRound:
        """A new round with the task and the response of another, whose answers are known."""
        with self._database.read() as connection:
            row = find_round(connection, self.lesson, round)
            asked = find_asked(connection, self.lesson, row)
            content = copied_content(connection, self.lesson, round)
            features = find_task(connection, self.lesson, round).features
        asked = asked._replace(
            advice=None, part=RoundPart.KNOWN, known=known._replace(matched=row.matched)
        )
        responses = Listed(features_from(features, self.definition.facts.dim))
        return self._open_known(asked, responses, content, account)

    def _open_known(
        self,
        asked: AskedRound,
        responses: Listed,
        content: Content,
        account: str,
        request: KeyedRequest | None = None,
    ) -> OpenedRound:
        with writing(self._database, self.lesson, rounds=1) as log:
            number = log.next_round()
            open_round(
                log,
                number=number,
                asked=asked,
                features=responses.matrix,
                content=content,
                account=account,
            )
            if request is not None:
                add_answer(log.connection, request, json.dumps({"round": number}))
        return OpenedRound(number, asked.choice, asked.version)

    def _prepared(self, connection: Connection, number: int) -> PreparedRound:
        if self._material is not None:
            return self._material.prepare(connection, number)
        assert self._simulation is not None
        task = self._simulation.world.task(number, (), self._tasks.at(number))
        return PreparedRound(task, content_of(task, self.definition.world))

    def _open(
        self,
        prepared: PreparedRound,
        account: str,
        *,
        until: float | None = None,
        expected: int | None = None,
        request: KeyedRequest | None = None,
        acted: Choice | None = None,
    ) -> OpenedRound | None:
        """Open a round, in one transaction; None if its number is not the expected one."""
        task, content, part, response = prepared

        def write(log: LessonLog) -> OpenedRound | None:
            number, version = log.rounds + 1, self.agent.seq
            if expected not in (None, number):
                return None
            if response is None:
                choice = self.agent.choose(number, task)
            else:  # drawn with equal chances: the agent is not asked
                choice = task.choose(response, propensity=1 / len(task.responses))
            listed, shown, drawn, advice = task.responses, content, None, None
            if acted is not None:
                choice, advice = acted, choice.to_data()
            if choice.shortlist is not None:  # stored as a place in it
                listed, drawn = choice.shortlist, Drawn(number, choice.response)
                shown = Content(drawing=drawing_of(task, choice.response))
                choice = choice._replace(response=choice.place)
            open_round(
                log,
                number=log.next_round(),
                asked=AskedRound(task.instruction, choice, version, drawn, advice, part),
                features=listed.matrix,
                content=shown,
                account=account,
                wants_second=self._wants_second(number),
                claim=None if until is None else (account, until),
            )
            if request is not None:
                add_answer(log.connection, request, json.dumps({"round": number}))
            return OpenedRound(number, choice, version, advice)

        alone = expected is not None
        opened: OpenedRound | None = self._group_commit(Change(write, rounds=1), alone)
        return opened

    def _commit(self, changes: list[Change]) -> None:
        """Write changes in one transaction, and learn what they taught once it is committed."""
        with self._lock:
            rounds = sum(change.rounds for change in changes)
            with writing(self._database, self.lesson, rounds, len(changes)) as log:
                before = log.latest
                if rounds:
                    self.agent.follow(log.connection, self.lesson, before)
                for change in changes:
                    change.write(log)
            taught = [change.result.taught for change in changes if change.teaches]
            if not self.agent.learn_written(before, log.latest, taught):
                self.catch_up()

    def _wants_second(self, number: int) -> bool:
        """Whether a second description is wanted whatever the first one says."""
        share = self.definition.second_share
        if share < 1 and self.definition.doubt != OFF and self.agent.learned >= WEIGHED_AT[0]:
            return False  # it is decided when the first one comes (``questions.tells_much``)
        return share > 0 and float(self._seconds.at(number).random()) < share

    # Teaching.

    def claim(self, account: str, until: float) -> ClaimedRound | None:
        """Claim a response for a teacher until some time; None if there is none to describe.

        Where a world asks, a new round is opened if no other is free.
        """
        with self._database.write() as connection:
            claimed = claim_round(connection, self.lesson, account, until)
            if claimed is not None:
                return self._claimed(connection, claimed)
        if not self.has_world:
            return None
        opened = self.ask_from_world(account, until)
        with self._database.read() as connection:
            return self._claimed(connection, find_round(connection, self.lesson, opened.number))

    def claimed_known(self, connection: Connection, round: int) -> ClaimedRound:
        """A round whose answers are known, as if it were claimed."""
        return self._claimed(connection, find_round(connection, self.lesson, round))

    def _claimed(self, connection: Connection, round: RoundRow) -> ClaimedRound:
        response = find_asked(connection, self.lesson, round).choice.response
        return ClaimedRound(response, find_task(connection, self.lesson, round.number))

    def describe(
        self,
        round: int,
        account: str,
        description: Instruction,
        *,
        anyones: bool = False,
        saw_request: bool = False,
        asked_again: AskedAgain | None = None,
        wants_second: bool = False,
        took_suggestion: bool = False,
        effect: bool = False,
    ) -> tuple[DescriptionResult, Effect | None]:
        """Store a description, and learn it; with ``effect``, also say what it changed.

        See `tellback.classroom.store.descriptions.describe` for the other parameters.
        """
        # The effect must be that of this description alone.
        with self._lock if effect else nullcontext():
            before = None
            if effect:
                self._update_requests()
                before = self.examination.answers()
            left_out = self.agent.left_out
            result: DescriptionResult = self._group_commit(
                Change(
                    lambda log: describe(
                        log,
                        round,
                        account,
                        description,
                        self.verdicts.agree,
                        met=self.verdicts.of,
                        anyones=anyones,
                        saw_request=saw_request,
                        asked_again=asked_again,
                        wants_second=wants_second,
                        took_suggestion=took_suggestion,
                    )
                ),
                alone=effect,
            )
            if before is None:
                return result, None
            return result, self.examination.effect_since(before, left_out)

    # Considering requests, without a round.

    def consider(self, instruction: Instruction, responses: Listed) -> Considered:
        """The agent's estimates and bonuses of every response to a request. Nothing is stored."""
        with self._lock:
            self.catch_up()
            return self.examination.considered(Task(None, instruction, responses))

    def imagine(self, instruction: Instruction, task: int) -> tuple[Considered, Drawings]:
        """The same in a task of the lesson's world, of which the agent draws candidates.

        Returns the estimates, and the SVG of each candidate when it is asked for.
        """
        asked = self.agent.world_task(task)._replace(instruction=instruction)
        with self._lock:
            self.catch_up()
            listed = self.agent.shortlisted(asked)
            found = self.examination.considered(listed)
        return found, lambda place: drawing_of(asked, listed.responses.responses[place])

    @property
    def draws(self) -> bool:
        """Whether the agent draws candidates, because responses are too many to list."""
        return self.has_world and isinstance(self.agent.model_agent, ProposingAgent)

    def examined(self) -> tuple[int, CurvePoint]:
        """The latest event read, and the point of the success curve there."""
        with self._lock:
            right = self.right() or []
            return self.agent.seq, CurvePoint(self.agent.learned, sum(right), len(right))

    def right(self) -> list[bool] | None:
        """Which requests of the exam are met; None if that is not known."""
        with self._lock:
            if self.examination.held_out is not None:
                with self._database.read() as connection:
                    self.examination.choose_requests(connection)
            return self.exam.right(self.examination.answers())

    def unsure(self, most: int = 5) -> list[tuple[Instruction, str]]:
        """The requests of the exam of which the agent is least sure, and why."""
        with self._lock:
            self._update_requests()
            return self.examination.unsure(most)

    def _update_requests(self) -> None:
        with self._database.read() as connection:
            self.examination.choose_requests(connection)
            self.agent.follow(connection, self.lesson, latest_event(connection, self.lesson))
