"""Taking rounds in that were played elsewhere."""

from __future__ import annotations

import numpy as np

from tellback.classroom.learning.content import Content
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.fold import Fold
from tellback.classroom.store.asking import open_round
from tellback.classroom.store.log import TOMBSTONE, Kind, LessonLog
from tellback.classroom.store.places import settle_places
from tellback.errors import FieldError, TellbackError
from tellback.responses import Listed
from tellback.roles import Choice, Instruction, Task
from tellback.specs import Data


class TakingIn:
    """Adds rounds to a log as their events tell them.

    The agent of this lesson did not choose the responses: there is no estimate of its own.

    Parameters
    ----------
    log : LessonLog
        The lesson's.
    definition : Definition
        What it is about.
    account : str
        Whose all of it is from now on.
    """

    def __init__(self, log: LessonLog, definition: Definition, account: str) -> None:
        self._log = log
        self._definition = definition
        self._account = account
        self._untaught = Fold(definition)  # refuses what the lesson's own agent would
        self._rounds_before = log.rounds
        self._events_before = log.latest
        self._asked: dict[int, Instruction] = {}
        self._described: dict[int, Instruction] = {}
        self.descriptions = 0

    @property
    def rounds(self) -> int:
        """How many rounds were taken in."""
        return self._log.rounds - self._rounds_before

    @property
    def first_round(self) -> int | None:
        """The number of the first of them."""
        return self._rounds_before + 1 if self.rounds else None

    def ask(
        self,
        instruction: Instruction,
        responses: Listed,
        content: Content,
        response: int,
        propensity: float | None,
    ) -> int:
        """A round that was asked; its number among those that are taken in, from 1."""
        if response not in responses:
            last = len(responses) - 1
            raise FieldError("response", f"response must be from 0 to {last}, not {response}.")
        self._refuse_unfit(Task(None, instruction, responses))
        unknown = float("nan")
        choice = Choice(
            response, responses.features(response), unknown, unknown, propensity, unknown, unknown
        )
        open_round(
            self._log,
            number=self._log.next_round(),
            instruction=instruction,
            choice=choice,
            version=self._log.latest,
            features=np.asarray(responses.matrix),
            content=content.packed(),
            account=self._account,
        )
        self._asked[self.rounds] = instruction
        return self.rounds

    def describe(self, round: int, description: Instruction, saw_request: bool) -> None:
        """What somebody said of a response."""
        match = self._definition.match
        assert match is not None
        matched = bool(match(self._demand(round), description))
        data: Data = {"description": description, "saw_request": saw_request, "matched": matched}
        self._append(Kind.DESCRIBED, data, round)
        self._described[round] = description
        self.descriptions += 1

    def second(self, round: int, description: Instruction, saw_request: bool) -> None:
        """What somebody else said of it."""
        self._demand(round)
        match = self._definition.match
        assert match is not None
        first = self._described.get(round)
        agrees = first is not None and bool(match(first, description))
        data: Data = {"description": description, "agrees": agrees, "saw_request": saw_request}
        self._append(Kind.SECOND, data, round)

    def note(self, kind: Kind, data: Data, round: int) -> None:
        """Whatever else happened to a round."""
        self._demand(round)
        self._append(kind, data, round)

    def bury(self, kind: Kind, round: int) -> None:
        """An event of which only a tombstone was left."""
        self._demand(round)
        self._append(kind, TOMBSTONE, round)

    def roll_back(self, to: int) -> None:
        """Everything after an event of those that are taken in was rolled back."""
        if not 0 <= to <= self._log.latest - self._events_before:
            raise FieldError("data.to", "to must be an event that came before.")
        self._append(Kind.ROLLED_BACK, {"to": self._events_before + to})

    def redacted(self, events: int) -> None:
        """Somebody's words were deleted."""
        self._append(Kind.REDACTED, {"events": events})

    def finish(self) -> None:
        """Settle where all rounds stand."""
        settle_places(self._log)

    def _refuse_unfit(self, task: Task) -> None:
        """Refuse a task that the agent would refuse if it was asked now."""
        try:
            self._untaught.choose(self._log.rounds + 1, task)
        except TellbackError as error:
            raise FieldError(self._definition.candidates, str(error)) from error

    def _demand(self, round: int) -> Instruction:
        if round not in self._asked:
            raise FieldError("round", f"round {round} was not asked on any line above.")
        return self._asked[round]

    def _append(self, kind: Kind, data: Data, round: int | None = None) -> None:
        number = None if round is None else self._rounds_before + round
        self._log.append(kind, data, round=number, account=self._account)
