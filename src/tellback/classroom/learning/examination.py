"""The agent's answers to the requests of its exam, and what a description changes in them."""

from __future__ import annotations

from typing import Any

from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.exam import LATEST, MOST_NUMBERS, Effect, exam_of
from tellback.classroom.learning.heard import Heard
from tellback.classroom.learning.held_out import HeldOutRequests
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.learning.sureness import Answer, Considered, verdict
from tellback.classroom.store.active import latest_described
from tellback.classroom.store.database import Connection
from tellback.classroom.store.rounds import find_asked, find_round
from tellback.classroom.store.tasks import find_task
from tellback.errors import TellbackError
from tellback.responses import Listed
from tellback.roles import Instruction, Task


class Examination:
    """The exam of a lesson, with the requests of now and the agent's answers to them.

    The caller holds the lesson's lock.
    """

    def __init__(
        self, lesson: str, definition: Definition, simulation: Any, agent: LessonAgent, heard: Heard
    ) -> None:
        self.exam = exam_of(definition, simulation)
        self.held_out: HeldOutRequests | None = None
        if definition.material is not None:
            self.held_out = HeldOutRequests(lesson, definition.facts.dim)
        self._lesson, self._dim = lesson, definition.facts.dim
        self._agent, self._heard = agent, heard
        self._requests: dict[int, Task | None] = {}
        # The answers by the state of the agent; None if the requests have changed.
        self._answers: tuple[tuple[int, int, int], list[Any]] | None = None

    def considered(self, task: Task) -> Considered:
        """The agent's estimates and bonuses of every response."""
        task, agent = self._agent.shortlisted(task), self._agent.model_agent
        return Considered(
            agent.model.estimates(task.instruction, task.responses),
            agent.explorer.bonuses(task.responses),
            self._agent.learned,
            self._agent.seq,
            self._heard.least(task.instruction),
        )

    def answers(self) -> list[Any]:
        """The agent's answers to the requests, computed once a state."""
        state = self._agent.learned, self._agent.latest, self._agent.rebuilds
        if self._answers is None or self._answers[0] != state:
            self._answers = state, self.exam.answers(self._agent)
        return self._answers[1]

    def effect_since(self, before: list[Any], left_out: frozenset[int]) -> Effect:
        """What has changed since these answers, and since these descriptions were left out."""
        after = self.answers()
        right = self.exam.right(after)
        return Effect(
            self._agent.learned,
            self.exam.flips(before, after),
            None if right is None else sum(right),
            len(self.exam.tasks),
            len(self._agent.left_out ^ left_out),
        )

    def unsure(self, most: int) -> list[tuple[Instruction, str]]:
        """The requests of which the agent is least sure, and why."""
        found = sorted(
            ((verdict(self.considered(task)), task) for task in self.exam.tasks),
            key=lambda pair: pair[0].margin,
        )
        reasons: dict[Instruction, str] = {}  # by the words: some requests are the same
        for one, task in found:
            if one.answer is Answer.UNSURE:
                reasons.setdefault(task.instruction, one.says)
        return list(reasons.items())[:most]

    def choose_requests(self, connection: Connection) -> None:
        """Where no requests are held out, take those of the latest described rounds.

        Of own material, take the descriptions that are held out by now.
        """
        if self.held_out is not None and self.held_out.update(connection):
            self.exam.tasks, self._answers = self.held_out.tasks, None
        if self.exam.judged:
            return
        chosen: dict[int, Task | None] = {}
        numbers = 0
        for round in latest_described(connection, self._lesson, LATEST):
            cached = round in self._requests
            task = self._requests[round] if cached else self._request(connection, round)
            numbers += 0 if task is None else task.responses.matrix.size
            if chosen and numbers > MOST_NUMBERS:
                break
            chosen[round] = task
        if chosen.keys() != self._requests.keys():
            self._requests, self._answers = chosen, None
            self.exam.tasks = [task for task in chosen.values() if task is not None]

    def _request(self, connection: Connection, round: int) -> Task | None:
        """The request of a round; None if there is one response only, or the model refuses it."""
        asked = find_asked(connection, self._lesson, find_round(connection, self._lesson, round))
        features = find_task(connection, self._lesson, round).features
        responses = Listed(features_from(features, self._dim))
        task = Task(None, asked.instruction, responses)
        if len(responses) < 2:
            return None
        try:
            self.considered(task)
        except TellbackError:
            return None
        return task
