"""How reliable each teacher is: the share of right descriptions, with an interval.

Each description has a probability to be right, by surprise (``doubts``). A second description that
agrees or not, and a blind check that picks its response or not, change its odds. What is sure
counts fully, and what is even does not count. Picks of the teacher in blind checks of descriptions
that are sure are items with a known answer.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from scipy.stats import beta

from tellback.classroom.learning.agreement import agree
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.questions import weighed
from tellback.classroom.store.database import Connection
from tellback.classroom.store.log import Kind, find_active_spans, in_spans, read_events
from tellback.classroom.store.reviews import SecondRow
from tellback.theory.shares import LEVEL, Share

AGREES, DISAGREES = 5.0, 0.4
"""How a second description changes the odds that the first is right; and those of its own."""

PICKED, NOT_PICKED = 4.0, 0.3
"""How a blind check changes them, by whether it picks the response that was described."""


class _Check(NamedTuple):
    round: int
    account: str
    right: bool


def reliability(
    learner: Learner, connection: Connection, seconds: list[SecondRow]
) -> dict[str, Share]:
    """The reliability of each teacher of whom something is known, by account."""
    descriptions, doubts = weighed(learner)
    odds = {one.round: doubts.right[one.seq] / (1 - doubts.right[one.seq]) for one in descriptions}
    teacher = {one.round: one.account for one in descriptions}
    of: dict[str, list[float]] = defaultdict(list)  # probabilities, by account
    for two in seconds:
        agrees = agree(learner, two)
        if agrees is not None:
            teacher.setdefault(two.round, two.teacher)
            factor = AGREES if agrees else DISAGREES
            odds[two.round] = odds.get(two.round, 1.0) * factor
            of[two.other].append(factor / (1 + factor))
    sure = {one.round for one in descriptions if one.sure}
    for check in _checks(connection, learner.lesson):
        if check.round in odds:
            odds[check.round] *= PICKED if check.right else NOT_PICKED
        if check.round in sure:  # a known answer
            of[check.account].append(float(check.right))
    for round, ratio in odds.items():
        of[teacher[round]].append(ratio / (1 + ratio))
    return {account: _share(right) for account, right in of.items()}


def _checks(connection: Connection, lesson: str) -> list[_Check]:
    spans = find_active_spans(connection, lesson)
    return [
        _Check(event.round or 0, event.account or "", event.data["right"])
        for event in read_events(connection, lesson, kinds=[Kind.CHECKED])
        if in_spans(spans, event.seq) and not event.redacted
    ]


def _share(right: list[float]) -> Share:
    """The posterior of the share, from a uniform prior."""
    counts = [(2 * p - 1) ** 2 for p in right]
    yes = 1 + sum(count * p for count, p in zip(counts, right, strict=True))
    no = 1 + sum(count * (1 - p) for count, p in zip(counts, right, strict=True))
    tail = (1 - LEVEL) / 2
    low, high = (float(beta.ppf(q, yes, no)) for q in (tail, 1 - tail))
    return Share(yes / (yes + no), low, high, len(right))
