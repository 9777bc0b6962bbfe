"""Importing rounds that were played elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.drawing import drawing_of
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.learning.verdicts import Verdicts
from tellback.classroom.store.descriptions import AskedAgain, description_data
from tellback.classroom.store.log import TOMBSTONE, Event, Kind, LessonLog
from tellback.classroom.store.projection import PROJECTED_KINDS, Projection
from tellback.classroom.store.rounds import AskedRound, Drawn, Known, RoundPart, asked_data
from tellback.classroom.store.staging import Page, StagedLog, write_page
from tellback.classroom.store.tasks import Content
from tellback.errors import FieldError, TellbackError
from tellback.responses import Listed
from tellback.roles import Choice, Instruction, Task
from tellback.specs import Data

AT_ONCE = 256
"""Responses shown to the agent at once: some models take long for each call."""


class UnfitLineError(FieldError):
    """A task that the lesson's agent refuses; ``line`` says where it was."""

    def __init__(self, line: int, field: str, says: str) -> None:
        super().__init__(field, says)
        self.line = line


class Stated(NamedTuple):
    """What the agent stated of its choice; NaN where that is not known."""

    propensity: float | None = None
    estimate: float = math.nan
    bonus: float = math.nan
    width: float = math.nan
    highest: float = math.nan


class _ImportedRound(NamedTuple):
    instruction: Instruction
    response: int
    responses: int


class Importer:
    """Prepares imported rounds, and then adds them to the log of a lesson.

    Parameters
    ----------
    definition : Definition
        What the lesson is about.
    account : str
        The author of all imported events.
    """

    def __init__(self, definition: Definition, account: str) -> None:
        self._log = StagedLog()
        self._definition = definition
        self._account = account
        self._verdicts = Verdicts(definition, None)  # imported rounds are not those of its world
        self._untaught = LessonAgent(definition)  # to refuse the tasks that the agent would refuse
        self._unseen: list[tuple[int, Task]] = []  # with the line of each
        self._unseen_responses = 0
        self._asked: dict[int, _ImportedRound] = {}
        self._projection = Projection()  # of the imported rounds
        self._said: dict[int, Instruction] = {}  # by the event
        self._unsaid: set[int] = set()  # rounds with a redacted description
        self.descriptions = 0
        self.separable = True  # whether others may write to the lesson between two pages

    @property
    def rounds(self) -> int:
        """Number of imported rounds."""
        return self._log.rounds

    @property
    def events(self) -> int:
        """Number of imported events."""
        return self._log.latest

    def close(self) -> None:
        """Delete what was prepared."""
        self._log.close()

    def ask(
        self,
        instruction: Instruction,
        responses: Listed,
        content: Content,
        response: int,
        stated: Stated,
        line: int,
        wants_second: bool = False,
        drawn: Drawn | None = None,
        advice: Data | None = None,
        part: RoundPart | None = None,
        known: Known | None = None,
    ) -> int:
        """A round, asked on a line. Returns its number among the imported rounds, from 1."""
        if response not in responses:
            last = len(responses) - 1
            raise FieldError("response", f"response must be from 0 to {last}, not {response}.")
        if drawn is not None:
            content = self._drawn_content(drawn, responses.features(response))
        self._unseen.append((line, Task(None, instruction, responses)))
        self._unseen_responses += len(responses)
        if self._unseen_responses >= AT_ONCE:
            self.refuse_unfit()
        choice = Choice(response, responses.features(response), **stated._asdict())
        if (known is None) == (part is RoundPart.KNOWN):
            raise FieldError(
                "data.known", "known is for rounds of the part known, and for no other."
            )
        asked = AskedRound(instruction, choice, self._log.latest, drawn, advice, part, known)
        data = asked_data(asked)
        number, seq = self._log.open_round(data, responses.matrix, content, wants_second)
        self._asked[number] = _ImportedRound(instruction, response, len(responses))
        self._projection.ask(number, seq, part)
        return number

    def _drawn_content(self, drawn: Drawn, features: Array) -> Content:
        """What is shown of a response that was drawn; refused if it is of another world."""
        if self._definition.world is not None:
            task = self._untaught.world_task(drawn.task)
            if drawn.response in task.responses and np.allclose(
                task.responses.features(drawn.response), features
            ):
                return Content(drawing=drawing_of(task, drawn.response))
        raise FieldError(
            "data.drawn",
            "the response was drawn in another world: import it into a lesson whose world and seed "
            "are the same",
        )

    def describe(
        self,
        round: int,
        description: Instruction,
        saw_request: bool,
        suggested: Data | None = None,
        asked_again: AskedAgain | None = None,
    ) -> None:
        """A description, the suggestion before it, and whether its teacher was asked again."""
        self.separable &= round == self.rounds  # of the round just before it
        first = None if asked_again is None else asked_again.first
        blind = description if first is None else first
        matched = self._verdicts.match(self._demand(round).instruction, blind)
        saw = saw_request or bool(suggested)
        data = description_data(description, saw, matched, suggested, asked_again)
        seq = self._append(Kind.DESCRIBED, data, round)
        self._said[seq] = description
        self.descriptions += 1

    def second(self, round: int, description: Instruction, saw_request: bool) -> None:
        """A second description."""
        self._demand(round)
        # The first description that was active at this event.
        first = self._projection.of(round).described
        agrees = first is not None and self._verdicts.agree(self._said[first], description)
        data: Data = {"description": description, "agrees": agrees, "saw_request": saw_request}
        self._append(Kind.SECOND, data, round)

    def check(self, round: int, picked: int | None) -> None:
        """A check: the response that somebody picked for the description, or none of them."""
        asked = self._demand(round)
        if self._projection.of(round).described is None and round not in self._unsaid:
            raise FieldError("round", f"round {round} had no description that could be checked.")
        if picked is not None and picked >= asked.responses:
            last = asked.responses - 1
            raise FieldError("data.picked", f"picked must be from 0 to {last}, not {picked}.")
        self._append(Kind.CHECKED, {"picked": picked, "right": picked == asked.response}, round)

    def note(self, kind: Kind, data: Data, round: int) -> None:
        """Another event of a round."""
        self._demand(round)
        self._append(kind, data, round)

    def bury(self, kind: Kind, round: int) -> None:
        """A redacted event of a round."""
        self._demand(round)
        self._append(kind, TOMBSTONE, round)
        if kind is Kind.DESCRIBED:
            self._unsaid.add(round)

    def roll_back(self, to: int) -> None:
        """A rollback to one of the imported events."""
        if not 0 <= to <= self._log.latest:
            raise FieldError("data.to", "to must be an event that came before.")
        self._append(Kind.ROLLED_BACK, {"to": to})

    def redacted(self, events: int) -> None:
        """A redaction."""
        self._append(Kind.REDACTED, {"events": events})

    def pages(self) -> Iterator[Page]:
        """All that was prepared, a page at a time."""
        return self._log.pages()

    def write(self, log: LessonLog, *pages: Page) -> None:
        """Add pages to the log of a lesson; all of them if none is given."""
        for page in pages or self.pages():
            write_page(log, page, self._account, self._projection.of)

    def refuse_unfit(self) -> None:
        """Refuse the first task that a new agent of the lesson would refuse."""
        unseen, self._unseen, self._unseen_responses = self._unseen, [], 0
        if not unseen:
            return
        # Models refuse responses for their own features: all together, then one by one.
        rows = np.concatenate([task.responses.matrix for _, task in unseen])
        if not self._refusal(Task(None, unseen[0][1].instruction, Listed(rows))):
            return
        for line, task in unseen:
            if says := self._refusal(task):
                raise UnfitLineError(line, self._definition.candidates, says)

    def _refusal(self, task: Task) -> str:
        try:
            self._untaught.choose(self._log.rounds + 1, task)
        except TellbackError as error:
            return str(error)
        return ""

    def _demand(self, round: int) -> _ImportedRound:
        if round not in self._asked:
            raise FieldError("round", f"round {round} was not asked on any line above.")
        return self._asked[round]

    def _append(self, kind: Kind, data: Data, round: int | None = None) -> int:
        self.separable &= kind is Kind.DESCRIBED
        seq = self._log.append(kind, data, round=round)
        if kind in PROJECTED_KINDS:
            self._projection.apply(Event(seq, kind, round, self._account, 0.0, data))
        return seq
