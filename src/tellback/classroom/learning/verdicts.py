"""Verdicts: whether a response did what was asked, and how that is known.

Words alone do not tell: two sentences of one meaning may share no word. So a verdict comes from the
truth where a world holds it, from equality where instructions are numbers, or from people.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from tellback.arrays import Array
from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.rounds import AskedRound
from tellback.matching import Same
from tellback.roles import Instruction, Simulation, Task, meets
from tellback.streams import Streams
from tellback.worlds.recorded import RecordedTruth

ALIKE = 0.8
"""Two sentences sound alike if the agent's estimates for them correlate by this much.

The least wrong of nine thresholds in 6 lessons of 120 rounds (seeds 1000 to 1005): 9% of rounds.
"""

ASKED_OF_PEOPLE = 0.25
"""The share of described rounds of which their teacher is asked whether it did what was asked."""


class JudgedBy(StrEnum):
    """What verdicts rest on."""

    TRUTH = "truth"  # a simulation's
    RECORDING = "recording"  # in which a person said the request of one response
    EQUALITY = "equality"  # of the description and the request
    RATES = "rates"  # a match whose error rates were measured
    PEOPLE = "people"  # who judge a random part of the rounds


class Verdicts:
    """The verdicts of a lesson.

    Parameters
    ----------
    definition : Definition
        The lesson's.
    simulation : Simulation, optional
        Its world.
    """

    def __init__(self, definition: Definition, simulation: Simulation | None) -> None:
        self._simulation = simulation
        self._truth = None if simulation is None else simulation.truth
        assert definition.match is not None
        self._match, self._answers = definition.match, definition.answers
        measured = definition.world is None and self._match.errors is not None
        self._by_words = isinstance(self._match, Same) or measured
        streams = Streams(definition.seed)
        self._tasks, self._order = streams.stream("world"), streams.stream("judged")

    @property
    def by(self) -> JudgedBy:
        """What they rest on."""
        if self._truth is not None:
            recorded = isinstance(self._truth, RecordedTruth)
            return JudgedBy.RECORDING if recorded else JudgedBy.TRUTH
        if isinstance(self._match, Same):
            return JudgedBy.EQUALITY
        return JudgedBy.PEOPLE if self._match.errors is None else JudgedBy.RATES

    @property
    def says(self) -> str:
        """What they rest on, in words."""
        if self.by is JudgedBy.TRUTH:
            return "by the truth, which the world of this lesson knows"
        if self.by is JudgedBy.RECORDING:
            return (
                "by the recording: whether a person, who may err, said the request of that response"
            )
        if self.by is JudgedBy.PEOPLE:
            return "by people, who judge a random part of the rounds"
        return self._match.says

    def match(self, asked: Instruction, told: Instruction) -> bool | None:
        """Whether a description matches a request, by words; None where words do not tell."""
        if self._answers is not None and asked not in self._answers:
            return None  # a question: no answer is the same
        return self._match(asked, told) if self._by_words else None

    def agree(self, one: Instruction, other: Instruction) -> bool | None:
        """Whether two descriptions mean the same; None where that cannot be known."""
        return self._match(one, other) if isinstance(self._match, Same) else None

    def of(self, number: int, asked: AskedRound, told: Instruction) -> bool | None:
        """Whether the response of a round did what was asked; None where that is not known."""
        if self._simulation is None or self._truth is None:
            return self.match(asked.instruction, told)
        drawn = asked.drawn
        number = number if drawn is None else drawn.task
        task = self._simulation.world.task(number, (), self._tasks.at(number))
        response = asked.choice.response if drawn is None else drawn.response
        return meets(self._truth, task, response) if _is_of(task, asked, response) else None

    def priority(self, round: int) -> float:
        """The place of a round in the random order in which people judge, from 0 to 1."""
        return float(self._order.at(round).random())


def _is_of(task: Task, asked: AskedRound, response: object) -> bool:
    """Whether a round is of this task, and was not imported from elsewhere."""
    if asked.instruction != task.instruction or response not in task.responses:
        return False
    return bool(np.array_equal(task.responses.features(response), asked.choice.features))


def sound_alike(one: Array, other: Array) -> bool | None:
    """Whether the agent ranks responses alike, by its estimates for two sentences.

    None if there is nothing to compare: a single response, or equal estimates.
    """
    one, other = one - one.mean(), other - other.mean()
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return None if not length > 0 else bool(one @ other >= ALIKE * length)
