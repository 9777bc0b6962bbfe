"""Gentle questions: "Really a red square? It looks like what was called a blue circle before".

A teacher is asked before a doubtful description is stored, and later about earlier ones that have
become doubtful since. A question depends on the response and on descriptions alone, never on the
request. So it tells nothing that a teacher who describes blindly must not know.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np

from tellback.classroom.learning.definition import OFF
from tellback.classroom.learning.doubts import (
    DOUBTFUL,
    Doubts,
    fits_of,
    others_of,
    weighed_count,
)
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.active import ActiveDescription, read_active, waiting_for_second
from tellback.classroom.store.rounds import find_asked, find_round
from tellback.roles import Choice, Instruction

ASKED_BELOW = 0.85
"""A teacher is asked if the probability that a description is right is below this.

A question costs less than a description that is left out. So a teacher is asked sooner.
"""


class Question(NamedTuple):
    """A doubtful description, and why it is."""

    round: int
    said: Instruction
    right: float  # the probability that it is right
    looks_like: Instruction | None  # the description of another round that fits the response best

    @property
    def says(self) -> str:
        """The question, in words."""
        looks = f" It looks like what was called “{self.looks_like}” before."
        return f"Really “{self.said}”?{looks if self.looks_like is not None else ''}"


class Weighed(NamedTuple):
    """The first descriptions of a lesson, as far as they are weighed, and what is believed."""

    descriptions: list[ActiveDescription]
    doubts: Doubts


def weighed(learner: Learner) -> Weighed:
    """The descriptions that are weighed; none if the lesson doubts none."""
    count = weighed_count(len(learner.agent.active))
    if learner.definition.doubt == OFF or not count:
        return Weighed([], Doubts({}, {}))
    with learner.reading() as connection:
        descriptions = list(islice(read_active(connection, learner.lesson), count))
    return Weighed(descriptions, learner.agent.doubts_of(descriptions))


def question(learner: Learner, round: int, account: str, said: Instruction) -> Question | None:
    """What to ask of a description before it is stored; None if it is not doubtful."""
    found = weighed(learner)
    if not found.descriptions:
        return None
    choice = _choice(learner, round)
    right = _right(learner, found, choice, account, said)
    if right >= ASKED_BELOW:
        return None
    return Question(round, said, right, _looks_like(learner, found, round, choice))


def open_questions(learner: Learner, account: str) -> list[ActiveDescription]:
    """The doubtful descriptions of a teacher that they were not asked about, the worst first.

    Not the latest one: its request is still on the page.
    """
    found = weighed(learner)
    right = found.doubts.right
    mine = [one for one in found.descriptions if one.account == account]
    latest = max((one.seq for one in mine), default=0)
    mine = [one for one in mine if not one.sure and one.seq != latest]
    return sorted(
        (one for one in mine if right[one.seq] < ASKED_BELOW), key=lambda one: right[one.seq]
    )


def next_question(learner: Learner, account: str) -> Question | None:
    """The question about an earlier description of a teacher; None if there is none."""
    one = next(iter(open_questions(learner, account)), None)
    if one is None:
        return None
    found = weighed(learner)
    looks_like = _looks_like(learner, found, one.round, one.choice)
    return Question(one.round, one.description, found.doubts.right[one.seq], looks_like)


def tells_much(learner: Learner, round: int, account: str, said: Instruction) -> bool | None:
    """Whether a second description of a response tells much: the first one is doubtful.

    As many are wanted as the lesson's share of second descriptions. None if nothing is known yet.
    """
    found = weighed(learner)
    if not found.descriptions:
        return None
    choice = _choice(learner, round)
    usual = list(found.doubts.right.values())
    least = float(np.quantile(usual, learner.definition.second_share))
    return _right(learner, found, choice, account, said) <= least


def _choice(learner: Learner, round: int) -> Choice:
    """What was chosen in a round."""
    with learner.reading() as connection:
        row = find_round(connection, learner.lesson, round)
        return find_asked(connection, learner.lesson, row).choice


def _right(
    learner: Learner, found: Weighed, choice: Choice, account: str, said: Instruction
) -> float:
    with learner.locked() as agent:
        model = agent.model_agent.model
        fits = fits_of(model, said, choice.features, others_of(found.descriptions))
    return found.doubts.right_at(found.doubts.lift(fits), account)


def _looks_like(learner: Learner, found: Weighed, round: int, choice: Choice) -> Instruction | None:
    """The description of another round that fits this response best, if one fits."""
    others = others_of(found.descriptions)
    best, most = None, 0.0
    with learner.reading() as connection:
        hidden = waiting_for_second(connection, learner.lesson) | {round}
    with learner.locked() as agent:
        for one in found.descriptions:
            if one.round in hidden or found.doubts.right[one.seq] < DOUBTFUL:
                continue
            model = agent.model_agent.model
            lift = found.doubts.lift(fits_of(model, one.description, choice.features, others))
            if lift > most:
                best, most = one.description, lift
    return best
